import { ApiError, attemptAsync } from "../errors.ts";
import type { UnparsedBody } from "../parse.ts";
import { readYaml } from "./read-yaml.ts";

/** A body in YAML that is not read yet. Reading takes a thread, so permission is checked first. */
export class YamlText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Returns the body with its YAML read, or why it could not be read. Any other body is returned as it is. */
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
