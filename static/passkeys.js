// Passkeys. A form with data-passkey says what to do: "add", "use", or "login"; the answer goes into its field
// `credential`. What the server asks stands in the page, for a login it is fetched when the button is pressed.

const binary = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
const text = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
const known = (list) => (list ?? []).map((one) => ({ ...one, id: binary(one.id) }));

async function create({ publicKey: asked }) {
  const publicKey = {
    ...asked,
    challenge: binary(asked.challenge),
    user: { ...asked.user, id: binary(asked.user.id) },
    excludeCredentials: known(asked.excludeCredentials),
    authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" },
  };
  const made = await navigator.credentials.create({ publicKey });
  return said(made, {
    attestationObject: text(made.response.attestationObject),
    transports: made.response.getTransports?.() ?? [],
  });
}

async function get({ publicKey: asked }) {
  const publicKey = { ...asked, challenge: binary(asked.challenge), allowCredentials: known(asked.allowCredentials) };
  const used = await navigator.credentials.get({ publicKey });
  const { authenticatorData, signature, userHandle } = used.response;
  return said(used, {
    authenticatorData: text(authenticatorData),
    signature: text(signature),
    userHandle: userHandle ? text(userHandle) : null,
  });
}

function said(credential, response) {
  return {
    type: credential.type,
    id: credential.id,
    rawId: text(credential.rawId),
    authenticatorAttachment: credential.authenticatorAttachment,
    clientExtensionResults: credential.getClientExtensionResults(),
    response: { clientDataJSON: text(credential.response.clientDataJSON), ...response },
  };
}

async function asked(form) {
  if (form.dataset.passkey !== "login") return JSON.parse(document.getElementById("passkey-asked").textContent);
  const answer = await fetch(form.action, { headers: { Accept: "application/json" } });
  if (!answer.ok) throw new Error(answer.status === 429 ? "Too many tries. Wait a little." : "The server did not answer.");
  return answer.json();
}

async function press(form) {
  const told = form.querySelector("[role=alert]");
  told.hidden = true;
  try {
    const question = await asked(form);
    const answer = form.dataset.passkey === "add" ? await create(question.creation_options) : await get(question.request_options);
    form.elements.credential.value = JSON.stringify(answer);
    form.submit();
  } catch (fault) {
    const quiet = fault.name === "NotAllowedError" || fault.name === "AbortError";
    const twice = fault.name === "InvalidStateError";
    told.textContent = twice
      ? "This device holds a passkey for you already."
      : quiet
        ? "The passkey was not used. Try again; nothing weaker is taken instead."
        : `That did not work: ${fault.message}`;
    told.hidden = false;
  }
}

for (const form of document.querySelectorAll("form[data-passkey]")) {
  const button = form.querySelector("button");
  if (!window.PublicKeyCredential) continue;
  form.hidden = false;
  button.disabled = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    press(form);
  });
}
