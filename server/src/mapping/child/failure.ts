import type { MappingMistake } from "@beckon/contract";

/** A filter or a template is not valid, or failed for one request. */
export class Failure extends Error {
  readonly mistake: MappingMistake;

  constructor(part: MappingMistake["part"], message: string, line: number | null = null) {
    super(message);
    // A message can contain a value of the payload. PostgreSQL stores neither NUL nor lone
    // surrogates.
    const storable = message.slice(0, 1_000).replaceAll("\0", "\ufffd").toWellFormed();
    this.mistake = { part, message: storable, line };
  }
}

export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
