import { type IncomingMessage, request } from "node:http";

/**
 * Opens an event stream on a connection of its own.
 * @param path of the stream, with its query.
 * @param key sent as `x-api-key`.
 * @throws if the response has another status than 200
 */
export async function openStream(
  port: number,
  path: string,
  key: string,
): Promise<IncomingMessage> {
  const sent = request({
    port,
    path,
    host: "127.0.0.1",
    agent: false,
    headers: { "x-api-key": key, accept: "text/event-stream" },
  });
  const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.once("response", resolve).once("error", reject).end();
  });
  if (incoming.statusCode !== 200) throw new Error(`${path} responded with ${incoming.statusCode}`);
  return incoming;
}
