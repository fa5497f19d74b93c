import { gzipSync } from "node:zlib";
import type { Behaviour, Reply } from "./model-server.ts";

/** Behaviours that make a response hard to parse, or endless. */

function changed(behaviour: Behaviour, change: (reply: Reply) => Reply): Behaviour {
  return async (request, index) => {
    const scene = await behaviour(request, index);
    return { ...scene, reply: change(scene.reply) };
  };
}

/** Sends one byte at a time, so that every character, line and event is split somewhere. */
export function byteByByte(behaviour: Behaviour): Behaviour {
  return changed(behaviour, (reply) => {
    const bytes = Buffer.concat(reply.pieces.map((piece) => Buffer.from(piece)));
    return {
      ...reply,
      pieces: Array.from({ length: bytes.length }, (_, at) => bytes.subarray(at, at + 1)),
    };
  });
}

/** Sends `end` instead of each line feed, and a byte order mark before the first line. */
export function withLineEnd(end: "\n" | "\r" | "\r\n", behaviour: Behaviour): Behaviour {
  return changed(behaviour, (reply) => ({
    ...reply,
    pieces: ["\uFEFF", ...reply.pieces.map((piece) => piece.toString().replaceAll("\n", end))],
  }));
}

/**
 * Sends eight megabytes that are compressed to a few kilobytes. Beckon rejects the response because
 * of its content encoding and does not decompress it.
 */
export function gzipBomb(behaviour: Behaviour): Behaviour {
  return changed(behaviour, (reply) => ({
    ...reply,
    headers: { ...reply.headers, "content-encoding": "gzip" },
    pieces: [gzipSync(Buffer.alloc(8 * 1024 * 1024, " "))],
  }));
}

/**
 * Omits the last `closing` pieces of the response and repeats `piece` instead, up to a gigabyte.
 */
export function endless(piece: string, closing: number, behaviour: Behaviour): Behaviour {
  return async (request, index) => {
    const { reply } = await behaviour(request, index);
    const pieces = reply.pieces.slice(0, reply.pieces.length - closing);
    return { reply: { ...reply, pieces }, delivery: { type: "flood", piece, bytes: 1024 ** 3 } };
  };
}

/** Applies `change` to the text of each piece. */
export function withText(change: (sent: string) => string, behaviour: Behaviour): Behaviour {
  return changed(behaviour, (reply) => ({
    ...reply,
    pieces: reply.pieces.map((piece) => change(piece.toString())),
  }));
}
