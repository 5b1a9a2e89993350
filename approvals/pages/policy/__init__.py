"""The pages of the policy: its rules as sentences, its versions, and drafts of the next one."""
