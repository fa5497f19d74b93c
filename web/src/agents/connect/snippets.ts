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

  typescript: (options: SnippetOptions) => `${typescriptClient(options)}
const { output } = await beckon.agents.invoke("${options.agentId}", { input: "Hello" });
console.log(output);`,

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
  curl: ({ origin, agentId }: SnippetOptions) => `RUN=$(curl -sS --fail-with-body \\
  "${origin}/api/public/agents/${agentId}/invoke" \\
  -H "x-api-key: $BECKON_TOKEN" \\
  -H "content-type: application/json" \\
  -H "prefer: respond-async" \\
  -d '{"input": "Hello"}' | sed 's/.*"run_id":"\\([^"]*\\)".*/\\1/')

curl -sS --fail-with-body -N \\
  "${origin}/api/public/runs/$RUN/events" \\
  -H "x-api-key: $BECKON_TOKEN" \\
  -H "accept: text/event-stream"`,

  typescript: (options: SnippetOptions) => `${typescriptClient(options)}
const { run_id } = await beckon.agents.start("${options.agentId}", { input: "Hello" });
for await (const event of beckon.runs.watch(run_id)) {
  if (event.type === "run.output.delta") process.stdout.write(event.data.text);
  else console.log(event.type);
}`,

  python: ({ origin, agentId }: SnippetOptions) => `import json
import os
from urllib.request import Request, urlopen

url = "${origin}/api/public"
token = os.environ["BECKON_TOKEN"]
start = Request(
    f"{url}/agents/${agentId}/invoke",
    headers={
        "x-api-key": token,
        "content-type": "application/json",
        "prefer": "respond-async",
    },
    data=json.dumps({"input": "Hello"}).encode(),
)
with urlopen(start) as response:
    run_id = json.load(response)["run_id"]

events = Request(
    f"{url}/runs/{run_id}/events",
    headers={"x-api-key": token, "accept": "text/event-stream"},
)
with urlopen(events) as response:
    for line in response:
        if not line.startswith(b"data: "):
            continue
        event = json.loads(line[6:])
        if event["type"] == "run.output.delta":
            print(event["data"]["text"], end="", flush=True)
        else:
            print(event["type"])`,
};

const typescriptClient = ({
  origin,
}: SnippetOptions) => `import { createClient } from "@beckon/client";

const beckon = createClient({
  url: "${origin}",
  key: process.env.BECKON_TOKEN,
});`;
