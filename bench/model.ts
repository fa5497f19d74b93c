import { createServer } from "node:http";

/**
 * A model server in a process of its own: answers every chat completion with the same words, after `--delay` milliseconds.
 * Prints its port when it listens.
 */
const delay = Number(process.argv[2] ?? 0);
const answer = JSON.stringify({
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "bench",
  choices: [{ index: 0, message: { role: "assistant", content: "The order has been paid and will ship today." }, finish_reason: "stop" }],
  usage: { prompt_tokens: 20, completion_tokens: 10, total_tokens: 30 },
});
const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(answer) };

const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
  request.resume();
  request.on("end", () => {
    const reply = () => response.writeHead(200, headers).end(answer);
    if (delay === 0) reply();
    else setTimeout(reply, delay);
  });
});
server.listen({ port: 0, host: "127.0.0.1", backlog: 4_096 }, () => {
  const address = server.address();
  process.send?.({ port: typeof address === "object" ? address?.port : undefined });
});
process.on("disconnect", () => process.exit());
