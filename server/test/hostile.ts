import { gzipSync } from "node:zlib";
import type { Behaviour, Reply } from "./model-server.ts";

/** Ways to make an answer hard to read, or endless. */

function changed(behaviour: Behaviour, change: (reply: Reply) => Reply): Behaviour {
  return async (request, index) => {
    const scene = await behaviour(request, index);
    return { ...scene, reply: change(scene.reply) };
  };
}

/** One byte at a time, so that every character, line and event is split somewhere. */
export function byteByByte(behaviour: Behaviour): Behaviour {
  return changed(behaviour, (reply) => {
    const bytes = Buffer.concat(reply.pieces.map((piece) => Buffer.from(piece)));
    return {
      ...reply,
      pieces: Array.from({ length: bytes.length }, (_, at) => bytes.subarray(at, at + 1)),
    };
  });
}

/** Another end of line, with a mark of the byte order before the first. */
export function withLineEnd(end: "\n" | "\r" | "\r\n", behaviour: Behaviour): Behaviour {
  return changed(behaviour, (reply) => ({
    ...reply,
    pieces: ["\uFEFF", ...reply.pieces.map((piece) => piece.toString().replaceAll("\n", end))],
  }));
}

/** Eight megabytes, sent as a few kilobytes: refused for being encoded, so its size does not matter. */
export function gzipBomb(behaviour: Behaviour): Behaviour {
  return changed(behaviour, (reply) => ({
    ...reply,
    headers: { ...reply.headers, "content-encoding": "gzip" },
    pieces: [gzipSync(Buffer.alloc(8 * 1024 * 1024, " "))],
  }));
}

/** The answer without what closes it (the last `closing` pieces), and then `piece` again and again up to a gigabyte. */
export function endless(piece: string, closing: number, behaviour: Behaviour): Behaviour {
  return async (request, index) => {
    const { reply } = await behaviour(request, index);
    const pieces = reply.pieces.slice(0, reply.pieces.length - closing);
    return { reply: { ...reply, pieces }, fate: { type: "flood", piece, bytes: 1024 ** 3 } };
  };
}

/** What is sent, as `change` makes of the text of each piece. */
export function withText(change: (sent: string) => string, behaviour: Behaviour): Behaviour {
  return changed(behaviour, (reply) => ({
    ...reply,
    pieces: reply.pieces.map((piece) => change(piece.toString())),
  }));
}
