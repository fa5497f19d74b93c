import { randomBytes } from "node:crypto";
import { type Config, readConfig } from "../src/config.ts";
import { type Beckon, start } from "../src/main.ts";
import type { StartOptions } from "../src/start-options.ts";
import { atEnd } from "./at-end.ts";
import { checkAnswer } from "./check-answer.ts";
import { type TestDatabase, testDatabase } from "./database.ts";
import { reservedHosts } from "./reserved-ports.ts";

/** An HTTP response. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Parsed JSON, or the text of another content type. Untyped, so that tests need no casts. */
  // biome-ignore lint/suspicious/noExplicitAny: a response body can have any shape
  readonly body: any;
}

export interface CallOptions {
  readonly method?: string;
  /** Sent as `x-api-key`. Default: the bootstrap key; null: none. */
  readonly credential?: string | null;
  /** Strings and bytes are sent unchanged, anything else as JSON. Undefined: no body. */
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

/** A Beckon for one test file or test, used over HTTP. */
export interface TestBeckon {
  readonly url: string;
  /** The bootstrap key, with all permissions in the workspace `default`. */
  readonly key: string;
  readonly config: Config;
  readonly db: TestDatabase;
  /** Calls a path below `/api/public`, or any URL: POST if there is a body, otherwise GET. */
  call(path: string, options?: CallOptions): Promise<Answer>;
  /** Creates an agent, by default with the model `demo/echo`, and returns it with its token. */
  createAgent(body?: Record<string, unknown>): Promise<{ id: string; token: string }>;
  createTrigger(
    agentId: string,
    body?: Record<string, unknown>,
  ): Promise<{ id: string; token: string; url: string }>;
  /** Creates a provider for the scripted model server at `baseUrl`. */
  createProvider(baseUrl: string, name?: string): Promise<{ id: string; name: string }>;
  invoke(
    agent: { id: string; token: string },
    input: string,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  /** Returns the value of a metric of this server with exactly these labels; 0 if there is none. */
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number>;
  /** Returns all metrics of this server. */
  metrics: Beckon["collectMetrics"];
  /** Starts another server on the same database, also in the test process. The caller stops it. */
  another(options?: Partial<StartOptions> & { settings?: Record<string, string> }): Promise<Beckon>;
}

/**
 * Starts Beckon in the test process, with its own database, on a free port, and stops it when the
 * file ends, or the test that called it.
 *
 * @param settings environment variables
 */
export async function startTestBeckon(
  settings: Record<string, string> = {},
  options: Partial<StartOptions> = {},
): Promise<TestBeckon> {
  const db = await testDatabase();
  const key = `bootstrap_${randomBytes(24).toString("base64url")}`;
  const environment = {
    PORT: "0",
    LOG_LEVEL: "silent",
    DATABASE_URL: db.url,
    BECKON_MASTER_KEY: randomBytes(32).toString("base64"),
    BECKON_BOOTSTRAP_KEY: key,
    // Model servers on the developer's machine must not change the result of a test.
    BECKON_DISCOVER: "0",
    ...settings,
    // Allows calls to scripted servers, including those that are started later, and to port 9,
    // where no server listens.
    BECKON_EGRESS_ALLOW: [settings.BECKON_EGRESS_ALLOW, "127.0.0.1:9", await reservedHosts()]
      .filter(Boolean)
      .join(","),
  };
  const config = readConfig(environment);
  const beckon = await start({ config, ...options });
  atEnd(() => beckon.stop());

  const call = async (
    path: string,
    { method, credential = key, body, headers = {}, signal }: CallOptions = {},
  ): Promise<Answer> => {
    const raw = typeof body === "string" || body instanceof Uint8Array;
    const url = path.startsWith("http") ? path : `${beckon.url}/api/public${path}`;
    const sent = method ?? (body === undefined ? "GET" : "POST");
    const response = await fetch(url, {
      method: sent,
      headers: {
        ...(credential === null ? {} : { "x-api-key": credential }),
        ...(body === undefined || raw ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: raw ? (body as Buffer) : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    if (!response.headers.has("beckon-request-id")) throw new Error(`${url} gave no request id`);
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.match(/^application\/json\b/) != null;
    const answer = {
      status: response.status,
      headers: response.headers,
      body: text === "" ? undefined : isJson ? JSON.parse(text) : text,
    };
    checkAnswer(sent, url, answer);
    return answer;
  };
  const created = async (path: string, body: unknown) => {
    const answer = await call(path, { body });
    if (answer.status !== 201)
      throw new Error(`${path} returned ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body.data;
  };
  return {
    url: beckon.url,
    key,
    config,
    db,
    call,
    createAgent: (body = {}) => created("/agents", { name: "Test", model: "demo/echo", ...body }),
    createTrigger: (agentId, body = {}) =>
      created(`/agents/${agentId}/triggers`, { name: "Test", ...body }),
    createProvider: (baseUrl, name = "scripted") =>
      created("/providers", { name, kind: "openai-compatible", base_url: baseUrl }),
    invoke: (agent, input, headers = {}) =>
      call(`/agents/${agent.id}/invoke`, { credential: agent.token, body: { input }, headers }),
    metrics: beckon.collectMetrics,
    metric: async (name, labels = {}) => {
      const found = (await beckon.collectMetrics({ database: true }))
        .flatMap((metric) => metric.values.map((value) => ({ name: metric.name, ...value })))
        .find(
          (value) =>
            (value.metricName ?? value.name) === name &&
            JSON.stringify(value.labels) === JSON.stringify(labels),
        );
      return found?.value ?? 0;
    },
    another: ({ settings: more = {}, ...rest } = {}) =>
      start({ config: readConfig({ ...environment, ...more }), ...rest }),
  };
}
