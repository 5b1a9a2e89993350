"""Every page of Placet in every state, made to happen and looked at: by axe, at every width, without scripts too."""
