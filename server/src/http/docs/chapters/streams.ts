import { codeBlock, prose } from "../html.ts";
import { inThreeLanguages } from "../samples.ts";
import type { Chapter } from "./chapter.ts";

const frames = `id: 1
event: run.started
data: {"id":"evt_…","run_id":"run_…","seq":1,"type":"run.started",…}

event: run.output.delta
data: {"type":"run.output.delta","run_id":"run_…","data":{"step":1,"kind":"text","text":"Hel"}}

id: 3
event: run.finished
data: {"id":"evt_…","run_id":"run_…","seq":3,"type":"run.finished",…}`;

export function streams(baseUrl: string): Chapter {
  const url = `${baseUrl}/api/public/runs/run_01jdb8tq5ke5ktbqrs4n1h9m0z/events`;
  return {
    slug: "streams",
    title: "Streams",
    lead: "Read a run's events as they happen, as server-sent events.",
    sections: [
      {
        id: "open",
        title: "Open a stream",
        html: `<p>${prose("Send `Accept: text/event-stream` to [Invoke agent](/docs/calls#invokeAgent), [List run events](/docs/runs#listRunEvents) or [List workspace events](/docs/events#listEvents). Errors before the stream are JSON with their status.")}</p>${codeBlock(frames)}`,
        samples: inThreeLanguages({
          curl: `curl -sS --fail-with-body -N \\
  "${url}" \\
  -H "x-api-key: $BECKON_KEY" \\
  -H "accept: text/event-stream"`,
          typescript: `const response = await fetch("${url}", {
  headers: { "x-api-key": process.env.BECKON_KEY ?? "", accept: "text/event-stream" },
});
if (!response.ok || response.body === null) throw new Error(await response.text());
let text = "";
for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
  const frames = (text + chunk).split("\\n\\n");
  text = frames.pop() ?? "";
  for (const frame of frames) {
    const data = /^data: ([^\\n]*)/m.exec(frame)?.[1];
    if (data !== undefined) console.log(JSON.parse(data).type);
  }
}`,
          python: `import json
import os
from urllib.error import HTTPError
from urllib.request import Request, urlopen

request = Request(
    "${url}",
    headers={"x-api-key": os.environ["BECKON_KEY"], "accept": "text/event-stream"},
)
try:
    response = urlopen(request)
except HTTPError as error:
    raise SystemExit(error.read().decode())
with response:
    for line in response:
        if line.startswith(b"data: "):
            print(json.loads(line[6:])["type"])`,
        }),
      },
      {
        id: "resume",
        title: "Resume a stream",
        html: `<p>${prose("Stored events have an `id`. To resume, send the last one as `Last-Event-ID` or `?after=`, to any process: no event is missing or repeated.")}</p>
<ul>
<li>${prose("The stream of a run ends after `run.finished`, `run.failed` or `run.cancelled`. Resuming after that is a 204.")}</li>
<li>${prose("A stream that ends otherwise was disconnected: wait the milliseconds of `retry:` and resume.")}</li>
<li>${prose("After `stream.closed` do not resume: the credential is no longer valid for this stream.")}</li>
</ul>`,
      },
      {
        id: "output",
        title: "Output of the model",
        html: `<p>${prose("`run.output.start`, `run.output.delta` and `run.output.end` have no `id` and are not stored. Slow readers and readers of another process can miss them. The `run.step` that follows has the whole text: show deltas as they arrive, and replace them by the step.")}</p>`,
      },
      {
        id: "workspace",
        title: "Events of a workspace",
        html: `<p>${prose("[List workspace events](/docs/events#listEvents) streams the events of all runs that the credential can read, and does not end. `stream.opened` has the first cursor of a stream that started without one. `stream.reset` means that your cursor is from before Beckon was restored, its PostgreSQL failed over or its master key was changed: read again what you keep. A list with such a cursor is a 400. Events of deleted runs are missing: if you resume later than the retention of runs, read again, too.")}</p>`,
      },
    ],
  };
}
