import { createHash } from "node:crypto";
import { formScript, formStyle } from "./link-form.ts";

interface Field {
  /** Name of the field in the request body. */
  readonly name: string;
  readonly label: string;
  readonly type: "text" | "email" | "password";
  readonly autocomplete: string;
  readonly hint?: string;
  readonly optional?: true;
}

/** A page behind a one-time link. */
export interface LinkPage {
  /** The path of the page in the links. */
  readonly path: string;
  readonly title: string;
  readonly lead: string;
  /** The route to which the form is sent, with the link's token. */
  readonly post: string;
  readonly fields: readonly Field[];
  readonly button: string;
  readonly done: string;
}

const newPassword = {
  type: "password",
  autocomplete: "new-password",
  hint: "At least 12 characters.",
} as const;

/** The pages behind one-time links, by path. */
export const linkPages: readonly LinkPage[] = [
  {
    path: "/setup",
    title: "Become the first owner",
    lead: "This link works once. The first owner manages this installation and invites other people.",
    post: "/api/public/setup",
    fields: [
      { name: "name", label: "Your name", type: "text", autocomplete: "name" },
      { name: "email", label: "E-mail", type: "email", autocomplete: "username" },
      { name: "password", label: "Password", ...newPassword },
    ],
    button: "Become the owner",
    done: "You own the workspace “default”.",
  },
  {
    path: "/invite",
    title: "Join a workspace",
    lead: "You are invited. Join with a new account or one that you have. If you are signed in here, leave the form empty.",
    post: "/api/public/invitations/accept",
    fields: [
      {
        name: "name",
        label: "Your name",
        type: "text",
        autocomplete: "name",
        hint: "For a new account.",
        optional: true,
      },
      {
        name: "email",
        label: "E-mail",
        type: "email",
        autocomplete: "username",
        hint: "If empty, the address of the invitation.",
        optional: true,
      },
      {
        name: "password",
        label: "Password",
        type: "password",
        autocomplete: "current-password",
        hint: "The password of your account, or at least 12 characters for a new one.",
        optional: true,
      },
    ],
    button: "Join",
    done: "You are a member now.",
  },
  {
    path: "/reset",
    title: "Set a new password",
    lead: "This link works once. It ends all your sessions.",
    post: "/api/public/password/reset",
    fields: [{ name: "new_password", label: "New password", ...newPassword }],
    button: "Set the password",
    done: "Your password was changed.",
  },
];

const hashOf = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/**
 * Content security policy. It allows the page's own style and script, which it identifies by their
 * hashes, and requests to this server.
 */
const policy = [
  "default-src 'none'",
  `style-src ${hashOf(formStyle)}`,
  `script-src ${hashOf(formScript)}`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/**
 * Serves the page behind a link. The server does not get the link's token, which follows `#`:
 * browsers do not send that part of a URL.
 */
export function serveLinkPage(page: LinkPage): Response {
  return new Response(render(page), {
    headers: {
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": policy,
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
    },
  });
}

const render = ({ title, lead, post, fields, button, done }: LinkPage) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Beckon</title>
<style>${formStyle}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p id="lead">${lead}</p>
<noscript><p>This page needs JavaScript. Without it, send the token after # by POST to ${post}: see <a href="/docs/account">/docs</a>.</p></noscript>
<form data-post="${post}">
${fields.map(input).join("\n")}
<button>${button}</button>
<p role="alert"></p>
</form>
<p id="done" tabindex="-1" hidden>${done} Sign in by POST to /api/public/sign-in: <a href="/docs/account#signIn">documentation</a>.</p>
</main>
<script type="module">${formScript}</script>
</body>
</html>
`;

const input = ({ name, label, type, autocomplete, hint, optional }: Field) =>
  `<label for="${name}">${label}</label><input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}"${
    hint === undefined ? "" : ` aria-describedby="${name}-hint"`
  }${optional ? "" : " required"}>${hint === undefined ? "" : `<small id="${name}-hint">${hint}</small>`}`;
