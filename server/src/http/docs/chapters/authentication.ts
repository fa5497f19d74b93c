import { prose } from "../html.ts";
import { type Chapter, inThreeLanguages } from "./chapter.ts";

const credentials: readonly (readonly [string, string, string])[] = [
  [
    "Agent token",
    "header `x-api-key`",
    "Invokes its agent, and reads and cancels that agent's runs. One for each agent.",
  ],
  [
    "Workspace key",
    "header `x-api-key`",
    "Everything that its scopes allow in its workspace; it can be limited to some agents.",
  ],
  ["Trigger URL", "the path", "Fires its trigger, and nothing else. Anyone who has the URL can."],
  [
    "Session",
    "cookie",
    "Everything that the member's role allows. Set by [sign-in](/docs/account#signIn), for browsers.",
  ],
];

const variables: readonly (readonly [string, string])[] = [
  ["BECKON_KEY", "a workspace key, `bkw_…`"],
  ["BECKON_TOKEN", "an agent's token, `bka_…`"],
  ["BECKON_TRIGGER_URL", "a trigger's URL"],
  ["BECKON_COOKIE", "a session's cookie, `name=value`, as `Set-Cookie` of the sign-in has it"],
  ["BECKON_PASSWORD", "your password"],
  ["BECKON_NEW_PASSWORD", "your new password, of at least 12 characters"],
  ["BECKON_LINK_TOKEN", "the part of a one-time link after `#token=`"],
  ["PROVIDER_API_KEY", "the key of your account at a provider of models"],
];

export function authentication(baseUrl: string): Chapter {
  const url = `${baseUrl}/api/public/agents`;
  return {
    slug: "authentication",
    title: "Authentication",
    lead: "Send a workspace key or an agent's token in the header `x-api-key`.",
    sections: [
      {
        id: "credentials",
        title: "Credentials",
        html: `<table><tr><th>Credential</th><th>Sent in</th><th>Allows</th></tr>${credentials
          .map((row) => `<tr>${row.map((cell) => `<td>${prose(cell)}</td>`).join("")}</tr>`)
          .join("")}</table>
<p>${prose("Create keys with [Create key](/docs/keys#createKey). Each operation names the scope that it needs. Credentials are never accepted in a query string.")}</p>
<p>${prose("Beckon does not read `Authorization: Bearer`. Without another credential such a request is a 401 that names `x-api-key`; otherwise the header is ignored.")}</p>`,
        samples: inThreeLanguages({
          curl: `curl -sS --fail-with-body \\\n  "${url}" \\\n  -H "x-api-key: $BECKON_KEY"`,
          typescript: `const response = await fetch("${url}", {
  headers: { "x-api-key": process.env.BECKON_KEY ?? "" },
});
if (!response.ok) throw new Error(await response.text());
console.log(await response.json());`,
          python: `import json
import os
from urllib.request import Request, urlopen

request = Request("${url}", headers={"x-api-key": os.environ["BECKON_KEY"]})
with urlopen(request) as response:
    print(json.load(response))`,
        }),
      },
      {
        id: "invalid-credentials",
        title: "Invalid credentials",
        html: `<p>${prose("Every credential that is missing, malformed, unknown, rotated, revoked or expired gets the same 401 `unauthorized`. A valid credential without the scope or role gets a 403 `forbidden`. A revocation takes effect with its response, in every process.")}</p>
<p>${prose("An address with too many failed authentications gets 429 `too_many_requests` with `Retry-After`. Valid credentials are never limited by it.")}</p>`,
      },
      {
        id: "sessions",
        title: "Sessions",
        html: `<p>${prose("A session authenticates every operation except fires. Requests other than GET need the `Origin` of this site. A member of several workspaces names one in the header `beckon-workspace` or, on GET, as `?workspace=`. A key in the same request takes precedence.")}</p>`,
      },
      {
        id: "environment",
        title: "Environment variables of the samples",
        html: `<p>${prose("The samples contain no secrets. They read them from these variables:")}</p><table>${variables
          .map(
            ([name, meaning]) => `<tr><td><code>${name}</code></td><td>${prose(meaning)}</td></tr>`,
          )
          .join("")}</table>`,
      },
    ],
  };
}
