import { prose, table } from "../html.ts";
import { samplesForGet } from "../samples.ts";
import type { Chapter } from "./chapter.ts";

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
  ["`BECKON_KEY`", "a workspace key, `bkw_…`"],
  ["`BECKON_TOKEN`", "an agent's token, `bka_…`"],
  ["`BECKON_TRIGGER_URL`", "a trigger's URL"],
  ["`BECKON_COOKIE`", "a session's cookie, `name=value`, as `Set-Cookie` of the sign-in has it"],
  ["`BECKON_PASSWORD`", "your password"],
  ["`BECKON_NEW_PASSWORD`", "your new password, of at least 12 characters"],
  ["`BECKON_LINK_TOKEN`", "the part of a one-time link after `#token=`"],
  ["`PROVIDER_API_KEY`", "the key of your account at a provider of models"],
];

export function authentication(baseUrl: string): Chapter {
  return {
    slug: "authentication",
    title: "Authentication",
    lead: "Send a workspace key or an agent's token in the header `x-api-key`.",
    sections: [
      {
        id: "credentials",
        title: "Credentials",
        html: `${table(credentials, ["Credential", "Sent in", "Allows"])}
<p>${prose("Create keys with [Create key](/docs/keys#createKey). Each operation names the scope that it needs. Credentials are never accepted in a query string.")}</p>
<p>${prose("Beckon does not read `Authorization: Bearer`. Without another credential such a request is a 401 that names `x-api-key`; otherwise the header is ignored.")}</p>`,
        samples: samplesForGet(`${baseUrl}/api/public/agents`),
      },
      {
        id: "invalid-credentials",
        title: "Invalid credentials",
        html: `<p>${prose("Every credential that is missing, malformed, unknown, rotated, revoked or expired gets the same 401 `unauthorized`. So does an invoke with the token of another agent: check the agent's id before you rotate the token. A valid credential without the scope or role gets a 403 `forbidden`. A revocation takes effect with its response, in every process.")}</p>
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
        html: `<p>${prose("The samples contain no secrets. They read them from these variables:")}</p>${table(variables)}
<p>${prose('In the curl samples, write `\\"` and `\\\\` for `"` and `\\` in a password or a provider\'s key, because the shell inserts it into JSON unchanged. `--fail-with-body` needs curl 7.76; before, omit it.')}</p>`,
      },
    ],
  };
}
