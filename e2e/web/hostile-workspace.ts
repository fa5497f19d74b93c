import type { Page } from "playwright-core";
import { longInput } from "../../server/test/artifact-of.ts";
import { eventually } from "../../server/test/eventually.ts";
import {
  type ModelServer,
  says,
  startModelServer,
  status,
} from "../../server/test/model-server.ts";
import { startTargetServer, type TargetServer } from "../../server/test/target-server.ts";
import type { SignedIn } from "./accounts.ts";
import { type Api, runEnded } from "./api.ts";
import { openSettled } from "./show-screen.ts";

/**
 * Texts that run a script or send a request if a page renders them as markup. The script writes an
 * error to the console. `openBrowserPage` fails a test in which the console has an error.
 */
export const strongPayloads = [
  `"'><img src=x onerror=console.error(1)><svg/onload=console.error(2)><script>console.error(3)</script>`,
  "[a](javascript:console.error(4)) ![b](https://evil.example/b) <https://evil.example/c> {{7*7}}",
] as const;

/** Payloads are truncated to this number of characters in names. The API accepts up to 200. */
const maxNameLength = 100;

/** Only this many of the payloads get a session, because a sign-in takes much CPU. */
const maxSessions = 3;

/** A model server and a tool server that send back what they get. */
interface HostileServers {
  readonly model: ModelServer;
  readonly shop: TargetServer;
  /** The payload with which the server responds to deliveries. */
  payload: string;
}

/** Starts servers for all payloads of a workspace. `opened` stops them. */
export async function startHostileServers(opened: AsyncDisposableStack): Promise<HostileServers> {
  const shop = await startTargetServer();
  opened.defer(() => shop.close());
  shop.answer = ({ url, body }, response) => {
    if (url === "/hook") return void response.end(servers.payload);
    const { text = "" } = body === "" ? {} : JSON.parse(body);
    const json = JSON.stringify({ [text.slice(0, maxNameLength)]: text });
    response.setHeader("content-type", "application/json").end(json);
  };
  const model = await startModelServer();
  opened.defer(() => model.close());
  model.script((request, index) => {
    const { model: chosen, messages } = request.body;
    const payload = messages.find(({ role }) => role === "user")?.content ?? "";
    const error = { error: { message: payload, type: payload } };
    if (chosen === "fails") return status(400, { body: JSON.stringify(error) })(request, index);
    const isFirst = messages.every(({ role }) => role !== "tool");
    const given = JSON.stringify({ text: payload });
    const unknown = payload.replaceAll(/\s/g, "").slice(0, 60);
    const calls = ["post", unknown].map((name, n) => ({ id: `call_${n}`, name, arguments: given }));
    return says(isFirst ? { reasoning: payload, text: payload, calls } : payload)(request, index);
  });
  const servers = { model, shop, payload: "" };
  return servers;
}

/** What `addHostile` has added. */
interface AddedPayload {
  /** The paths of pages that show one payload only. */
  readonly paths: readonly string[];
  /**
   * Deletes what a workspace can have only a few of. It is called after the pages were shown.
   */
  readonly remove: () => Promise<void>;
}

interface HostileOptions {
  readonly owner: SignedIn;
  readonly payload: string;
  /** Number of the payload, part of the provider's name, which must be unique. */
  readonly number: number;
  readonly servers: HostileServers;
}

/** Writes a payload into every kind of field of a workspace. */
export async function addHostile(
  api: Api,
  { owner, payload, number, servers }: HostileOptions,
): Promise<AddedPayload> {
  const { model, shop } = servers;
  servers.payload = payload;
  // The API rejects control characters in external ids and in tags.
  const printable = payload.replaceAll(/\p{Cc}/gu, " ");
  const ascii = payload.replaceAll(/[^ -~]/g, " ");
  const name = payload.slice(0, maxNameLength);
  const provider = `hostile-${number}`;
  await api("/providers", { name: provider, kind: "openai-compatible", base_url: model.url });
  const agent = await api("/agents", {
    name,
    description: payload,
    instructions: payload,
    model: `${provider}/scripted`,
    metadata: { text: payload },
    tools: [
      {
        type: "http",
        name: "shop",
        allowed_hosts: [shop.host],
        operations: [
          {
            name: "post",
            description: payload,
            method: "POST",
            url: `${shop.url}/`,
            body: {
              type: "object",
              properties: { text: { type: "string", description: payload } },
              required: ["text"],
            },
          },
        ],
      },
    ],
  });
  await api(`/agents/${agent.id}`, { instructions: `${payload}\n${payload}` }, { method: "PATCH" });
  const failing = await api("/agents", { name, model: `${provider}/fails` });
  const modelName = payload.replaceAll(/\s/g, "_").slice(0, maxNameLength);
  const named = await api("/agents", { name, model: `${provider}/${modelName}` });
  const echoing = await api("/agents", { name, model: "demo/echo" });
  const trigger = await api(`/agents/${agent.id}/triggers`, { name, prompt_prefix: payload });
  await api("/keys", { name, preset: "invoke" });
  const subscription = await api("/subscriptions", {
    url: `${shop.url}/hook`,
    description: payload,
    event_types: ["run.finished", "run.failed"],
    headers: { [`x-'\`|&${number}`]: ascii },
  });
  await api("/me", { name }, { method: "PATCH" });
  await api(`/workspaces/${owner.workspaceId}`, { name }, { method: "PATCH" });
  // These are all characters besides letters and digits that an e-mail address can have here.
  const email = `o'-_+.${number}@example.com`;
  const invitation = await api("/invitations", { email, role: "viewer" });
  if (number < maxSessions)
    await api(
      "/sign-in",
      { email: owner.email, password: owner.password },
      { headers: { "user-agent": ascii } },
    );
  const start = async (agentId: string): Promise<string> => {
    const headers = {
      prefer: "respond-async",
      "beckon-external-id": encodeURIComponent(printable),
      "beckon-tags": encodeURIComponent(printable.slice(0, 60)),
    };
    return (await api(`/agents/${agentId}/invoke`, { input: payload }, { headers })).run_id;
  };
  const { run_id: fired } = await api(trigger.url, { text: payload });
  const received = await addReceived(api, agent.id, payload);
  const runs = [await start(agent.id), await start(failing.id), fired, await start(named.id)];
  const long = await api(`/agents/${echoing.id}/invoke`, { input: payload + longInput });
  for (const id of runs) await runEnded(api, id);
  await api(`/agents/${agent.id}/pause`, { reason: payload });
  const journal: { seq: number; data: { artifact_id?: string } }[] = await api(
    `/runs/${long.run_id}/events`,
  );
  const stored = journal.find(({ data }) => data.artifact_id !== undefined);
  const delivered = await eventually("a delivery with a response", async () => {
    const deliveries: { id: string; status: string }[] = await api(
      `/subscriptions/${subscription.id}/deliveries`,
    );
    return deliveries.find(({ status }) => status === "succeeded")?.id;
  });
  const paths = [
    ...["playground", "settings", "connect", "versions", "runs", `triggers/${trigger.id}`].map(
      (tab) => `/agents/${agent.id}/${tab}`,
    ),
    `/agents/${named.id}/playground`,
    ...received,
    ...runs.map((id) => `/runs/${id}`),
    `/runs/${long.run_id}?seq=${stored?.seq}`,
    `/subscriptions/${subscription.id}`,
    `/subscriptions/${subscription.id}/deliveries/${delivered}`,
    ...["input", "output", "journal"].map((tab) => `/runs/${runs[0]}?tab=${tab}&seq=3`),
  ];
  return {
    paths: [
      ...paths.map((path) => `/w/${owner.workspaceId}${path}`),
      `/invite#token=${invitation.token}`,
    ],
    remove: async () => {
      await api(`/subscriptions/${subscription.id}`, undefined, { method: "DELETE" });
    },
  };
}

/**
 * Creates a trigger whose settings and received request contain the payload, and returns the paths
 * of the pages that show them.
 */
async function addReceived(api: Api, agentId: string, payload: string): Promise<string[]> {
  const trigger = await api(`/agents/${agentId}/triggers`, {
    name: payload.slice(0, maxNameLength),
    prompt_prefix: payload,
    receiving: {
      event_id: { pointer: "/text" },
      event_type: { pointer: "/text" },
      query: ["text"],
      template: "{{ payload.text }}{{ query.text }}",
    },
  });
  await api(`${trigger.url}?${new URLSearchParams({ text: payload })}`, { text: payload });
  const [request] = await api(`/agents/${agentId}/triggers/${trigger.id}/requests`);
  const path = `/agents/${agentId}/triggers/${trigger.id}`;
  return [path, `${path}/settings`, `${path}/requests/${request.id}`];
}

/** Returns the paths of pages that show all payloads. */
export const hostileLists = (workspaceId: string) =>
  hostileScreens.map((path) => `/w/${workspaceId}${path}`);

const hostileScreens = [
  "",
  "/runs",
  "/agents",
  "/providers",
  "/keys",
  "/subscriptions",
  "/usage",
  "/members",
  "/audit",
  "/settings",
  "/settings?tab=account",
  "/plan",
  "/prices",
];

/**
 * Opens a page, shows the data that it loads only on request, and returns the HTML of the elements
 * that a payload has created.
 */
export async function injectedInto(page: Page, url: string): Promise<string[]> {
  await openSettled(page, url);
  const show = page.getByRole("button", { name: "Show it here" });
  if ((await show.count()) > 0) {
    await show.click();
    await show.waitFor({ state: "detached" });
  }
  return page.evaluate(injectedElements);
}

/**
 * Types the payloads into the palette, which lists agents with these names, and returns the HTML of
 * the elements that a payload has created.
 */
export async function injectedIntoPalette(
  page: Page,
  url: string,
  payloads: readonly string[],
): Promise<string[]> {
  await openSettled(page, url);
  await page.keyboard.press("Control+K");
  const palette = page.getByRole("dialog", { name: "Find, go and act" });
  const injected: string[] = [];
  for (const payload of payloads) {
    await palette.getByRole("combobox").fill(payload);
    await palette
      .getByRole("option")
      .filter({ hasText: payload.slice(0, 60) })
      .first()
      .waitFor();
    injected.push(...(await page.evaluate<string[]>(injectedElements)));
  }
  return injected;
}

/**
 * An expression to evaluate in a page. It returns the HTML of the elements that only a payload can
 * have created.
 */
export const injectedElements = `[...document.querySelectorAll(
  "img, iframe, object, embed, svg[onload], [onerror], body script, a[href^='javascript:']",
)].map(({ outerHTML }) => outerHTML)`;

const scripts = [
  "<script>SCRIPT</script>",
  "<img src=x onerror=SCRIPT>",
  "<svg onload=SCRIPT>",
  "<svg><script>SCRIPT</script></svg>",
  "<iframe srcdoc='<script>SCRIPT</script>'></iframe>",
  "<details open ontoggle=SCRIPT>",
  "<input autofocus onfocus=SCRIPT>",
  "<math><mtext><style><img src onerror=SCRIPT></style></mtext></math>",
  "<a href='javascript:SCRIPT'>a</a>",
  "<form><button formaction='javascript:SCRIPT'>b</button></form>",
  "<meta http-equiv=refresh content='0;url=javascript:SCRIPT'>",
  "<object data='javascript:SCRIPT'></object>",
  "[a](javascript:SCRIPT)",
  "[a]: javascript:SCRIPT\n\n[a]",
  "<javascript:SCRIPT>",
  "![a](javascript:SCRIPT)",
  "[a](data:text/html;base64,PHNjcmlwdD4x)",
  "![a](https://evil.example/a.png)",
  "<link rel=stylesheet href=https://evil.example/a.css>",
  "<style>@import 'https://evil.example/a.css'</style>",
] as const;

const contexts = [
  (text: string) => text,
  (text: string) => `"'>${text}`,
  (text: string) => `</textarea></title></script>${text}`,
  (text: string) => `\u202e${text}\ufeff`,
  (text: string) => `\`\`\`html\n${text}\n\`\`\`\n\n${text}`,
] as const;

/** 100 texts: each of 20 attempts to run a script or send a request, in 5 contexts. */
export const manyPayloads = contexts.flatMap((within) =>
  scripts.map((script) => within(script.replaceAll("SCRIPT", "console.error(1)"))),
);
