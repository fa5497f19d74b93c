import { createServer, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * A model server in a process of its own, for chat completions. What it is told to be, then how many milliseconds it takes:
 *
 *   words 500    answers with the same words, after so long
 *   calls 200    calls a tool, after so long, each time: its run goes on until it is cancelled
 *   tokens 10    answers with 1,000 tokens, each of which takes so long: in one piece, or token by token when it is asked to stream
 *
 * Says its port when it listens.
 */
const [, , kind = "words", milliseconds = "0"] = process.argv;
const pause = Number(milliseconds);
const tokens = 1_000;
const token = " order";

const completion = (message: object, finish: string) => {
  const usage = { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 };
  const choices = [{ index: 0, message: { role: "assistant", ...message }, finish_reason: finish }];
  return JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "bench",
    choices,
    usage,
  });
};
const chunk = (delta: object, finish: string | null = null) => {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "bench", choices })}\n\n`;
};
const answers: Record<string, { readonly text: string; readonly after: number }> = {
  words: {
    text: completion({ content: "The order has been paid and will ship today." }, "stop"),
    after: pause,
  },
  calls: {
    text: completion(
      {
        content: null,
        tool_calls: [{ id: "call", type: "function", function: { name: "none", arguments: "{}" } }],
      },
      "tool_calls",
    ),
    after: pause,
  },
  tokens: { text: completion({ content: token.repeat(tokens) }, "stop"), after: pause * tokens },
};
const answer = answers[kind];
if (answer === undefined) throw new Error(`the model server cannot be ${kind}`);
const headers = {
  "content-type": "application/json",
  "content-length": Buffer.byteLength(answer.text),
};

async function stream(response: ServerResponse): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const began = performance.now();
  for (let told = 0; told < tokens; told++) {
    // By the clock, so that a timer that is late does not make the answer longer.
    await sleep(Math.max(0, began + told * pause - performance.now()));
    response.write(chunk({ content: token }));
  }
  response.end(`${chunk({}, "stop")}data: [DONE]\n\n`);
}

const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  let asked = "";
  request.setEncoding("utf8").on("data", (text: string) => {
    if (kind === "tokens") asked += text;
  });
  request.on("end", () => {
    const reply = () => response.writeHead(200, headers).end(answer.text);
    if (asked.includes('"stream":true')) void stream(response);
    else if (answer.after === 0) reply();
    else setTimeout(reply, answer.after);
  });
});
server.listen({ port: 0, host: "127.0.0.1", backlog: 4_096 }, () => {
  const address = server.address();
  process.send?.({ port: typeof address === "object" ? address?.port : undefined });
});
process.on("disconnect", () => process.exit());
