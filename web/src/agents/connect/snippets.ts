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

const invoke = {
  curl: ({ origin, agentId }: SnippetOptions) => `curl -sS --fail-with-body \\
  "${origin}/api/public/agents/${agentId}/invoke" \\
  -H "x-api-key: $BECKON_TOKEN" \\
  -H "content-type: application/json" \\
  -d '{"input": "Hello"}'`,

  typescript: (options: SnippetOptions) => `const response = await fetch(${fetched(options)});
if (!response.ok) throw new Error(await response.text());
const answer = await response.json();
// If Beckon stops before the run ends, the answer has a run_id and no output.
console.log(answer.output ?? answer);`,

  python: ({ origin, agentId }: SnippetOptions) => `import json
import os
from urllib.request import Request, urlopen

request = Request(
    "${origin}/api/public/agents/${agentId}/invoke",
    headers={
        "x-api-key": os.environ["BECKON_TOKEN"],
        "content-type": "application/json",
    },
    data=json.dumps({"input": "Hello"}).encode(),
)
with urlopen(request) as response:
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
  ) => `const response = await fetch(${fetched(options, "text/event-stream")});
if (!response.ok || response.body === null) throw new Error(await response.text());
let rest = "";
for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
  const frames = (rest + chunk).split("\\n\\n");
  rest = frames.pop() ?? "";
  for (const frame of frames) {
    const data = /^data: (.*)$/m.exec(frame)?.[1];
    if (data === undefined) continue;
    const event = JSON.parse(data);
    if (event.type !== "run.output.delta") console.log(\`\\n\${event.type}\`);
    else if (event.data.kind === "text") process.stdout.write(event.data.text);
  }
}`,

  python: ({ origin, agentId }: SnippetOptions) => `import json
import os
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
with urlopen(request) as response:
    for line in response:
        if not line.startswith(b"data: "):
            continue
        event = json.loads(line[6:])
        if event["type"] != "run.output.delta":
            print("\\n" + event["type"])
        elif event["data"]["kind"] == "text":
            print(event["data"]["text"], end="", flush=True)`,
};

/** Returns the arguments of `fetch`, which every JavaScript runtime has, for an invoke. */
function fetched({ origin, agentId }: SnippetOptions, accept?: string): string {
  const accepted = accept === undefined ? "" : `\n    accept: "${accept}",`;
  return `"${origin}/api/public/agents/${agentId}/invoke", {
  method: "POST",
  headers: {
    "x-api-key": process.env.BECKON_TOKEN ?? "",
    "content-type": "application/json",${accepted}
  },
  body: JSON.stringify({ input: "Hello" }),
}`;
}
