import type { Operation } from "./operations.ts";
import {
  hasSecret,
  hereDocument,
  pythonLiteral,
  Secret,
  shellArgument,
  typescriptLiteral,
  type Value,
  withSecrets,
} from "./sample-values.ts";

/** Code that calls one operation. It reads secrets from environment variables. */
export interface Sample {
  readonly language: "curl" | "typescript" | "python";
  readonly label: string;
  readonly code: string;
}

/** The request that samples send. */
interface SampleRequest {
  readonly method: string;
  readonly url: string | Secret;
  readonly headers: Readonly<Record<string, string | Secret>>;
  readonly body: Value | undefined;
  /** What the sample prints of the response. */
  readonly prints: "json" | "lines" | "text" | "status";
}

/** Returns the samples of an operation of the installation at `baseUrl`. */
export function samplesOf(operation: Operation, baseUrl: string): Sample[] {
  return samplesFor(requestOf(operation, baseUrl));
}

/** Returns the samples that send a request. */
export function samplesFor(request: SampleRequest): Sample[] {
  return inThreeLanguages({
    curl: curlSample(request),
    typescript: typescriptSample(request),
    python: pythonSample(request),
  });
}

/** Returns the samples that read `url` with a workspace key and print the JSON of the response. */
export function samplesForGet(url: string): Sample[] {
  const headers = { "x-api-key": new Secret("BECKON_KEY") };
  return samplesFor({ method: "GET", url, headers, body: undefined, prints: "json" });
}

/** Returns one sample for each language. */
export function inThreeLanguages(code: Readonly<Record<Sample["language"], string>>): Sample[] {
  return [
    { language: "curl", label: "curl", code: code.curl },
    { language: "typescript", label: "TypeScript", code: code.typescript },
    { language: "python", label: "Python", code: code.python },
  ];
}

function requestOf(operation: Operation, baseUrl: string): SampleRequest {
  const { id, method, path, parameters, requestBody, responses } = operation;
  const [, success] = Object.entries(responses).find(([status]) => status.startsWith("2")) ?? [];
  const [mediaType] = Object.keys(success?.content ?? {});
  const example = requestBody?.content["application/json"]?.example;
  const url = parameters
    .filter((parameter) => parameter.in === "path")
    .reduce((whole, each) => whole.replace(`{${each.name}}`, String(each.example)), baseUrl + path);
  return {
    method,
    url: path.endsWith("/triggers/{token}") ? new Secret("BECKON_TRIGGER_URL") : url,
    headers: {
      ...credentialOf(operation, baseUrl),
      // The fetch of Node.js fails if a response takes 300 seconds to begin. Then the caller would
      // not get the id of its run.
      ...(id === "invokeAgent" ? { prefer: "wait=240" } : {}),
      ...(example === undefined ? {} : { "content-type": "application/json" }),
    },
    body: example === undefined ? undefined : withSecrets(example),
    prints: printed[mediaType ?? ""] ?? "text",
  };
}

const printed: Readonly<Record<string, SampleRequest["prints"]>> = {
  "": "status",
  "application/json": "json",
  "application/jsonl": "lines",
};

function credentialOf(
  { credential, method }: Operation,
  baseUrl: string,
): Record<string, string | Secret> {
  switch (credential) {
    case "none":
      return {};
    case "token":
      return { "x-api-key": new Secret("BECKON_TOKEN") };
    case "key":
      return { "x-api-key": new Secret("BECKON_KEY") };
    case "session":
      return {
        cookie: new Secret("BECKON_COOKIE"),
        // Requests with a session, except GET and HEAD, must have Beckon's own origin in the header
        // `Origin`.
        ...(method === "GET" ? {} : { origin: new URL(baseUrl).origin }),
      };
  }
}

function curlSample({ method, url, headers, body }: SampleRequest): string {
  const expanded = (value: string | Secret) =>
    value instanceof Secret ? `$${value.variable}` : value;
  const readsSecrets = hasSecret(body);
  const lines = [
    "curl -sS --fail-with-body",
    `"${expanded(url)}"`,
    ...(method === (body === undefined ? "GET" : "POST") ? [] : [`-X ${method}`]),
    ...Object.entries(headers).map(([name, value]) => `-H "${name}: ${expanded(value)}"`),
    ...(body === undefined ? [] : [readsSecrets ? "-d @- <<JSON" : `-d ${shellArgument(body)}`]),
  ];
  const command = lines.join(" \\\n  ");
  return readsSecrets ? `${command}\n${hereDocument(body)}\nJSON` : command;
}

const typescriptPrints: { readonly [Prints in SampleRequest["prints"]]: string } = {
  json: "console.log(await response.json());",
  lines: `for (const line of (await response.text()).trim().split("\\n")) {
  console.log(JSON.parse(line));
}`,
  text: "console.log(await response.text());",
  status: "console.log(response.status);",
};

function typescriptSample({ method, url, headers, body, prints }: SampleRequest): string {
  const text = (value: string | Secret) =>
    value instanceof Secret ? `process.env.${value.variable} ?? ""` : JSON.stringify(value);
  const named = Object.entries(headers).map(
    ([name, value]) => `    ${/^\w+$/.test(name) ? name : `"${name}"`}: ${text(value)},`,
  );
  const options = [
    ...(method === "GET" ? [] : [`  method: "${method}",`]),
    ...(named.length === 0 ? [] : ["  headers: {", ...named, "  },"]),
    ...(body === undefined
      ? []
      : [`  body: JSON.stringify(${indented(typescriptLiteral(body), "  ")}),`]),
  ];
  return [
    options.length === 0
      ? `const response = await fetch(${text(url)});`
      : `const response = await fetch(${text(url)}, {\n${options.join("\n")}\n});`,
    "if (!response.ok) throw new Error(await response.text());",
    typescriptPrints[prints],
  ].join("\n");
}

const pythonPrints: { readonly [Prints in SampleRequest["prints"]]: string } = {
  json: "    print(json.load(response))",
  lines: "    for line in response:\n        print(json.loads(line))",
  text: "    print(response.read().decode())",
  status: "    print(response.status)",
};

function pythonSample({ method, url, headers, body, prints }: SampleRequest): string {
  const named = Object.entries(headers).map(
    ([name, value]) => `        "${name}": ${pythonLiteral(value)},`,
  );
  const options = [
    ...(method === "GET" ? [] : [`    method="${method}",`]),
    ...(named.length === 0 ? [] : ["    headers={", ...named, "    },"]),
    ...(body === undefined
      ? []
      : [`    data=json.dumps(${indented(pythonLiteral(body), "    ")}).encode(),`]),
  ];
  const modules = [
    ...(body !== undefined || prints === "json" || prints === "lines" ? ["json"] : []),
    ...([url, headers, body].some(hasSecret) ? ["os"] : []),
  ];
  return [
    ...modules.map((name) => `import ${name}`),
    "from urllib.error import HTTPError",
    "from urllib.request import Request, urlopen",
    "",
    options.length === 0
      ? `request = Request(${pythonLiteral(url)})`
      : `request = Request(\n    ${pythonLiteral(url)},\n${options.join("\n")}\n)`,
    // Python itself would print only the status of an error, not its message.
    "try:",
    "    response = urlopen(request)",
    "except HTTPError as error:",
    "    raise SystemExit(error.read().decode())",
    "with response:",
    pythonPrints[prints],
  ].join("\n");
}

/** Indents all lines but the first. */
function indented(text: string, indent: string): string {
  return text.replaceAll("\n", `\n${indent}`);
}
