import { createServer, type ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * A model server in its own process, for chat completions. Its arguments are a kind and
 * milliseconds:
 *
 *   words 500    responds with the same words after 500 ms
 *   calls 200    always responds with a tool call after 200 ms, so a run ends only if cancelled
 *   tokens 10    responds with 1,000 tokens of 10 ms each: all at the end, or streamed on request
 *
 * The server sends its port to the parent process when it listens.
 */
const [, , kind = "words", milliseconds = "0"] = process.argv;
const delayMs = Number(milliseconds);
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
const completions: Record<string, { readonly text: string; readonly after: number }> = {
  words: {
    text: completion({ content: "The order has been paid and will ship today." }, "stop"),
    after: delayMs,
  },
  calls: {
    text: completion(
      {
        content: null,
        tool_calls: [{ id: "call", type: "function", function: { name: "none", arguments: "{}" } }],
      },
      "tool_calls",
    ),
    after: delayMs,
  },
  tokens: { text: completion({ content: token.repeat(tokens) }, "stop"), after: delayMs * tokens },
};
const completionOfKind = completions[kind];
if (completionOfKind === undefined)
  throw new Error(`"${kind}" is not a kind of model server. Use words, calls or tokens.`);
const headers = {
  "content-type": "application/json",
  "content-length": Buffer.byteLength(completionOfKind.text),
};

async function stream(response: ServerResponse): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const began = performance.now();
  for (let sent = 0; sent < tokens; sent++) {
    // Delays are relative to the start, so that late timers do not add up.
    await sleep(Math.max(0, began + sent * delayMs - performance.now()));
    response.write(chunk({ content: token }));
  }
  response.end(`${chunk({}, "stop")}data: [DONE]\n\n`);
}

const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  let requestBody = "";
  request.setEncoding("utf8").on("data", (text: string) => {
    if (kind === "tokens") requestBody += text;
  });
  request.on("end", () => {
    const reply = () => response.writeHead(200, headers).end(completionOfKind.text);
    if (requestBody.includes('"stream":true')) void stream(response);
    else if (completionOfKind.after === 0) reply();
    else setTimeout(reply, completionOfKind.after);
  });
});
server.listen({ port: 0, host: "127.0.0.1", backlog: 4_096 }, () => {
  const address = server.address();
  process.send?.({ port: typeof address === "object" ? address?.port : undefined });
});
process.on("disconnect", () => process.exit());
