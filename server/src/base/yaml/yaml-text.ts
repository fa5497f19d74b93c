import { ApiError, attemptAsync } from "../errors.ts";
import type { UnparsedBody } from "../parse.ts";
import { readYaml } from "./read-yaml.ts";

/** A YAML body that is not parsed yet. Parsing uses a thread, so permission is checked first. */
export class YamlText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Returns the body with its YAML parsed, or the error. Returns any other body unchanged. */
export async function readYamlBody(body: UnparsedBody): Promise<UnparsedBody> {
  if (!body.ok || !(body.value instanceof YamlText)) return body;
  const { text } = body.value;
  return attemptAsync(async () => {
    const read = await readYaml(text);
    if (read.mistake === undefined) return read.value;
    throw new ApiError(
      "bad_request",
      `The body ${read.mistake}. Send one YAML document of plain values.`,
    );
  });
}
