import type { Snippet } from "../../ui/index.ts";

/** What a program waits for: the agent's answer (`invoke`), or the events of its run (`stream`). */
export type CallMode = "invoke" | "stream";

interface SnippetOptions {
  /** Scheme, host and port of this installation. */
  readonly origin: string;
  readonly agentId: string;
}

/** Returns programs that call an agent. They read its token from `BECKON_TOKEN`. */
export function snippetsOf(mode: CallMode, options: SnippetOptions): readonly Snippet[] {
  const write = mode === "invoke" ? invoke : stream;
  return [
    { label: "curl", code: write.curl(options) },
    { label: "TypeScript", code: write.typescript(options) },
    { label: "Python", code: write.python(options) },
  ];
}

/** Opens the response. Python itself would print only the status of an error, not its message. */
const pythonOpen = `try:
    response = urlopen(request)
except HTTPError as error:
    raise SystemExit(error.read().decode())`;

const invoke = {
  curl: ({ origin, agentId }: SnippetOptions) => `curl -sS --fail-with-body \\
  "${origin}/api/public/agents/${agentId}/invoke" \\
  -H "x-api-key: $BECKON_TOKEN" \\
  -H "content-type: application/json" \\
  -d '{"input": "Hello"}'`,

  typescript: (
    options: SnippetOptions,
  ) => `const response = await fetch(${fetched(options, 'prefer: "wait=240"')});
if (!response.ok) throw new Error(await response.text());
const answer = await response.json();
// If the run takes longer than 240 s, or Beckon stops, the answer has a run_id and no output.
console.log(answer.output ?? answer);`,

  python: ({ origin, agentId }: SnippetOptions) => `import json
import os
from urllib.error import HTTPError
from urllib.request import Request, urlopen

request = Request(
    "${origin}/api/public/agents/${agentId}/invoke",
    headers={
        "x-api-key": os.environ["BECKON_TOKEN"],
        "content-type": "application/json",
    },
    data=json.dumps({"input": "Hello"}).encode(),
)
${pythonOpen}
with response:
    answer = json.load(response)
# If Beckon stops before the run ends, the answer has a run_id and no output.
print(answer.get("output", answer))`,
};

const stream = {
  curl: ({ origin, agentId }: SnippetOptions) => `curl -sS --fail-with-body -N \\
  "${origin}/api/public/agents/${agentId}/invoke" \\
  -H "x-api-key: $BECKON_TOKEN" \\
  -H "content-type: application/json" \\
  -H "accept: text/event-stream" \\
  -d '{"input": "Hello"}'`,

  typescript: (
    options: SnippetOptions,
  ) => `const response = await fetch(${fetched(options, 'accept: "text/event-stream"')});
if (!response.ok || response.body === null) throw new Error(await response.text());
let rest = "";
let text = "";
let last;
for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
  const frames = (rest + chunk).split("\\n\\n");
  rest = frames.pop() ?? "";
  for (const frame of frames) {
    const json = /^data: ([^\\n]*)/m.exec(frame)?.[1];
    if (json === undefined) continue;
    last = JSON.parse(json);
    const { type, data } = last;
    if (type === "run.output.start") text = "";
    if (type !== "run.output.delta") console.log(\`\\n\${type}\`);
    else if (data.kind === "text") {
      text += data.text;
      process.stdout.write(data.text);
    }
  }
}
if (last?.type !== "run.finished")
  throw new Error(\`The stream ended without run.finished: \${JSON.stringify(last)}\`);
// Not every output is streamed, for example if another process executes the run.
if (last.data.output !== text) console.log(last.data.output ?? last.data);`,

  python: ({ origin, agentId }: SnippetOptions) => `import json
import os
from urllib.error import HTTPError
from urllib.request import Request, urlopen

request = Request(
    "${origin}/api/public/agents/${agentId}/invoke",
    headers={
        "x-api-key": os.environ["BECKON_TOKEN"],
        "content-type": "application/json",
        "accept": "text/event-stream",
    },
    data=json.dumps({"input": "Hello"}).encode(),
)
${pythonOpen}
text = ""
last = {"type": None}
with response:
    for line in response:
        if not line.startswith(b"data: "):
            continue
        last = json.loads(line[6:])
        if last["type"] == "run.output.start":
            text = ""
        if last["type"] != "run.output.delta":
            print("\\n" + last["type"])
        elif last["data"]["kind"] == "text":
            text += last["data"]["text"]
            print(last["data"]["text"], end="", flush=True)
if last["type"] != "run.finished":
    raise SystemExit(f"The stream ended without run.finished: {last}")
# Not every output is streamed, for example if another process executes the run.
output = last["data"].get("output", last["data"])
if output != text:
    print(output)`,
};

/** Returns the arguments of `fetch`, which every JavaScript runtime has, for an invoke. */
function fetched({ origin, agentId }: SnippetOptions, header: string): string {
  return `"${origin}/api/public/agents/${agentId}/invoke", {
  method: "POST",
  headers: {
    "x-api-key": process.env.BECKON_TOKEN ?? "",
    "content-type": "application/json",
    ${header},
  },
  body: JSON.stringify({ input: "Hello" }),
}`;
}
