import { spawnSync } from "node:child_process";
import { fireResponse, invokeResponse } from "@beckon/contract";
import { expect, onTestFinished, test } from "vitest";
import { artifactOf, longInput } from "../server/test/artifact-of.ts";
import { startTestBeckon, type TestBeckon } from "../server/test/beckon.ts";
import { checkAnswer } from "../server/test/check-answer.ts";
import { eventually } from "../server/test/eventually.ts";
import { startModelServer } from "../server/test/model-server.ts";
import { addPerson, password, setupToken, startSession } from "../server/test/people.ts";
import { createReceivingTrigger } from "../server/test/receiving-trigger-over-rest.ts";
import {
  type Job,
  type Printed,
  type Runner,
  runCurl,
  runPython,
  runTypeScript,
} from "./run-samples.ts";

/** Runs all samples of the documentation, as its pages show them, against a real server. */

const has = (command: string) => spawnSync(command, ["--version"]).status === 0;
const languages: readonly (readonly [string, Runner, boolean])[] = [
  ["curl", runCurl, has("curl")],
  ["typescript", runTypeScript, true],
  ["python", runPython, has("python3")],
];

/** Each language has its own server, because the samples change the server's data. */
const servers = new Map<string, TestBeckon>();
for (const [language] of languages)
  servers.set(language, await startTestBeckon({ BECKON_EGRESS_ALLOW: "127.0.0.1:11434" }));

for (const [language, run, isAvailable] of languages) {
  test.skipIf(!isAvailable)(
    `every ${language} sample prints what its operation documents`,
    async () => {
      const beckon = servers.get(language);
      if (beckon === undefined) throw new Error("a server for each language was started");
      const operations = await operationsOf(beckon);
      const samples = await samplesOf(beckon, language);
      expect(operations.filter(({ id }) => !samples.has(id))).toEqual([]);
      const substitutesOf = await prepare(beckon, operations);
      // Samples that check a one-time link run before those that use it, because a used link is
      // no longer valid.
      const ids = operations
        .map(({ id }) => id)
        .sort((one, other) => Number(other.startsWith("check")) - Number(one.startsWith("check")));
      // Samples of the guides run first: they do not change the data that the samples of operations
      // need, but some samples of operations delete data.
      const ordered = [...[...samples.keys()].filter((id) => !ids.includes(id)), ...ids];
      const printed = await run(
        ordered.map((id) => jobOf(id, samples.get(id) ?? "", substitutesOf(id))),
      );
      expect(printed.filter(({ error }) => error !== undefined)).toEqual([]);
      expect(printed).toHaveLength(ordered.length);
      const byId = new Map(printed.map((each) => [each.id, each]));
      for (const operation of operations) checkShape(operation, byId.get(operation.id), beckon);
      expect(JSON.stringify(byId.get("open"))).toContain("run.finished");
    },
    120_000,
  );
}

for (const [language, run, isAvailable] of languages)
  test.skipIf(!isAvailable)(`a ${language} sample prints why it failed`, async () => {
    const beckon = servers.get(language);
    if (beckon === undefined) throw new Error("a server for each language was started");
    const samples = await samplesOf(beckon, language);
    const env = { BECKON_KEY: "wrong", BECKON_TOKEN: "wrong" };
    const ids = ["listAgents", "invokeAgent", "pages", "open"];
    const printed = await run(ids.map((id) => ({ id, code: samples.get(id) ?? "", env })));
    for (const { id, error } of printed) expect(error, id).toContain('"unauthorized"');
    expect(printed).toHaveLength(ids.length);
  });

interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly isPersonal: boolean;
  /** The statuses of successful responses, in ascending order. */
  readonly statuses: readonly number[];
  /** Media type of the first successful response; undefined if it has no body. */
  readonly mediaType: string | undefined;
}

async function operationsOf(beckon: TestBeckon): Promise<Operation[]> {
  const { body } = await beckon.call(`${beckon.url}/openapi.json`);
  return Object.entries(body.paths as Record<string, object>).flatMap(([path, byMethod]) =>
    Object.entries(byMethod).map(([method, { operationId, security, responses }]) => {
      const successes = Object.entries(responses as object).filter(([status]) => /^2/.test(status));
      return {
        id: operationId as string,
        method: method.toUpperCase(),
        path,
        isPersonal: security?.length > 0 && security.every((each: object) => "session" in each),
        statuses: successes.map(([status]) => Number(status)),
        mediaType: Object.keys(successes[0]?.[1].content ?? {})[0],
      };
    }),
  );
}

/** Returns the samples of all pages in one language, by the ids of their sections. */
async function samplesOf(beckon: TestBeckon, language: string): Promise<Map<string, string>> {
  const read = async (path: string) => String((await beckon.call(beckon.url + path)).body);
  const overview = await read("/docs");
  const links = overview.matchAll(/<div class="group"[^>]*><a href="([^"]+)"/g);
  const pages = [overview, ...(await Promise.all([...links].map(([, path = ""]) => read(path))))];
  const form = new RegExp(
    `id="(\\w[\\w-]*)-${language}"[^>]*><label[^>]*>[^<]*</label><pre[^>]*><code>([^<]*)</code>`,
    "g",
  );
  return new Map(
    [...pages.join("").matchAll(form)].map(([, id = "", code = ""]) => [id, unescaped(code)]),
  );
}

const unescaped = (html: string) =>
  html
    .replaceAll("&quot;", '"')
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");

/** What adapts a sample to the test's server. */
interface Substitutes {
  /** Real ids by the example ids in the sample's code, which they replace. */
  readonly ids: Readonly<Record<string, string>>;
  /** Environment variables with the secrets that the sample reads. */
  readonly env: Readonly<Record<string, string>>;
}

function jobOf(id: string, code: string, { ids, env }: Substitutes): Job {
  const text = Object.entries(ids).reduce(
    (replaced, [example, real]) => replaced.replaceAll(example, real),
    code,
  );
  return { id, code: text, env };
}

/** Compares what a sample printed with the response that the operation documents. */
function checkShape(operation: Operation, printed: Printed | undefined, beckon: TestBeckon): void {
  const { id, method, path, statuses, mediaType } = operation;
  const values = printed?.values ?? [];
  if (mediaType === undefined) {
    // For a response without a body, curl prints nothing and the other languages print the status.
    expect(["", ...statuses], id).toContain(values[0]);
    return;
  }
  const text = values
    .map((value) => (typeof value === "string" ? value : JSON.stringify(value)))
    .join("\n");
  if (mediaType === "text/html") {
    expect(text).toContain("<!doctype html>");
    return;
  }
  const body = mediaType === "application/jsonl" ? text : JSON.parse(text);
  if (id === "invokeAgent") invokeResponse.parse(body);
  else if (id === "fireTrigger") fireResponse.parse(body);
  else if (id === "getOpenapi") expect(body.openapi).toBe("3.1.0");
  else if (id.endsWith("Probe")) expect(body).toEqual({ ok: true });
  else
    checkAnswer(method, beckon.url + path.replaceAll(/\{\w+\}/g, "x"), {
      status: statuses[0] ?? 0,
      body,
    });
}

/**
 * Creates the resources that the samples use. A sample whose change would affect other samples, for
 * example a deletion, gets resources that no other sample uses.
 */
async function prepare(
  beckon: TestBeckon,
  operations: readonly Operation[],
): Promise<(id: string) => Substitutes> {
  const example = (prefix: string) => `${prefix}_01jdb8tq5ke5ktbqrs4n1h9m0z`;
  const agent = await beckon.createAgent();
  const trigger = await beckon.createTrigger(agent.id);
  const created = async (path: string, body: unknown) =>
    (await beckon.call(path, { body })).body.data;
  const newRun = async (input = "Hello") =>
    (await beckon.invoke(agent, input)).body.run_id as string;
  const runId = await newRun(longInput);
  const newKey = async () => (await created("/keys", { name: "Test", preset: "observer" })).id;
  const newPrice = async (model: string) => {
    const body = {
      model: `scripted/${model}`,
      input_micros_per_million: 1,
      output_micros_per_million: 1,
    };
    return (await created("/prices", body)).id;
  };
  const newSubscription = () =>
    created("/subscriptions", { url: "http://127.0.0.1:9/events", event_types: ["run.finished"] });
  const newDelivery = async ({ id }: { id: string }) =>
    (await created(`/subscriptions/${id}/test`, {})).id as string;
  const subscription = await newSubscription();
  const newEvent = async () => {
    const { id } = await beckon.createAgent();
    await beckon.call(`/agents/${id}/pause`, { method: "POST" });
    return eventually("the event of a pause", async () => {
      const { body } = await beckon.call("/events?kind=agent.paused");
      return body.data[0]?.id as string | undefined;
    });
  };
  const ofReceived = ({ id, requestId }: { id: string; requestId: string }) => ({
    ids: { [example("trg")]: id, [example("req")]: requestId },
  });
  const receiving = ofReceived(await createReceivingTrigger(beckon, agent.id));
  const newPlan = async (name: string) => (await created("/plans", { name })).id;
  await beckon.call(`/limits/agent/${agent.id}`, { method: "PUT", body: { limit_micros: 1_000 } });
  const invite = (email: string) => created("/invitations", { email, role: "viewer" });
  const model = await startModelServer();
  onTestFinished(() => model.close());
  const newPerson = () => addPerson(beckon, { role: "viewer" });
  const deleted = await beckon.createAgent();
  await beckon.call(`/agents/${deleted.id}`, { method: "DELETE" });
  const setupLink = await setupToken(beckon);
  const invitation = await invite("grace.hopper@example.com");
  const resetLink = await beckon.call(`/members/${(await newPerson()).id}/reset-link`, {
    method: "POST",
  });

  const ids = {
    [example("agt")]: agent.id,
    [example("trg")]: trigger.id,
    [example("run")]: runId,
    [example("art")]: await artifactOf(beckon, runId),
    [example("prv")]: (await beckon.createProvider(model.url)).id,
    [example("pri")]: await newPrice("one"),
    [example("pln")]: await newPlan("one"),
    [example("key")]: await newKey(),
    [example("sub")]: subscription.id,
    [example("dlv")]: await newDelivery(subscription),
    [example("evt")]: await newEvent(),
    [example("wsp")]: (await beckon.call("/workspaces")).body.data[0].id,
    [example("usr")]: (await newPerson()).id,
    [example("inv")]: (await invite("open@example.com")).id,
  };
  const env = {
    BECKON_KEY: beckon.key,
    BECKON_TOKEN: agent.token,
    BECKON_TRIGGER_URL: trigger.url,
    BECKON_PASSWORD: password,
    BECKON_NEW_PASSWORD: "staple battery horse correct",
    PROVIDER_API_KEY: "sk-test",
  };
  const withId = (prefix: string, id: string) => ({ ids: { [example(prefix)]: id } });
  const withLink = (token: string) => ({ env: { BECKON_LINK_TOKEN: token } });
  const own: Record<string, Partial<Substitutes>> = {
    restoreAgent: withId("agt", deleted.id),
    rotateTrigger: withId("trg", (await beckon.createTrigger(agent.id)).id),
    testTrigger: withId("trg", (await beckon.createTrigger(agent.id)).id),
    deleteTrigger: withId("trg", (await beckon.createTrigger(agent.id)).id),
    setTriggerSecret: receiving,
    revealTriggerSecret: receiving,
    listenTrigger: receiving,
    getTriggerRequest: receiving,
    replayTriggerRequest: receiving,
    deleteTriggerRequest: ofReceived(await createReceivingTrigger(beckon, agent.id)),
    deleteRun: withId("run", await newRun()),
    // JavaScript counts U+2028 as the end of a line, event streams do not.
    open: withId("run", await newRun("a\u2028b")),
    deleteKey: withId("key", await newKey()),
    deletePlan: withId("pln", await newPlan("other")),
    deletePrice: withId("pri", await newPrice("other")),
    deleteProvider: withId("prv", (await beckon.createProvider(model.url, "other")).id),
    deleteSubscription: withId("sub", (await newSubscription()).id),
    pauseSubscription: withId("sub", (await newSubscription()).id),
    removeMember: withId("usr", (await newPerson()).id),
    checkSetup: withLink(setupLink),
    setUp: withLink(setupLink),
    checkInvitation: withLink(invitation.token),
    acceptInvitation: withLink(invitation.token),
    checkPasswordReset: withLink(resetLink.body.data.token),
    resetPassword: withLink(resetLink.body.data.token),
  };
  for (const id of [
    "pauseAgent",
    "resumeAgent",
    "rotateAgentToken",
    "revokeAgentToken",
    "deleteAgent",
  ])
    own[id] = withId("agt", (await beckon.createAgent()).id);
  for (const { id } of operations.filter(({ isPersonal }) => isPersonal)) {
    const person = await newPerson();
    const other = await startSession(beckon, person.id);
    const { body } = await other.call("/sessions");
    const session = body.data.find(({ current }: { current: boolean }) => current);
    own[id] = { ...withId("ses", session.id), env: { BECKON_COOKIE: person.cookie } };
  }
  return (id) => ({
    ids: { ...ids, ...own[id]?.ids },
    env: { ...env, ...own[id]?.env },
  });
}
