import { ApiError, attemptAsync } from "../errors.ts";
import type { UnparsedBody } from "../parse.ts";
import { readYaml } from "./read-yaml.ts";

/**
 * A YAML body that is not parsed yet. Operations check permission before they parse it: parsing
 * occupies one of only two worker threads, so a caller without permission must not cause it.
 */
export class YamlText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/**
 * Returns a YAML body as its parsed value, or as the error if it is invalid. Returns any other body
 * unchanged.
 * @param owner the workspace
 */
export async function readYamlBody(body: UnparsedBody, owner: string): Promise<UnparsedBody> {
  if (!body.ok || !(body.value instanceof YamlText)) return body;
  const { text } = body.value;
  return attemptAsync(async () => {
    const read = await readYaml(text, owner);
    if (read.mistake === undefined) return read.value;
    throw new ApiError(
      "bad_request",
      `The body ${read.mistake}. Send one YAML document of plain values.`,
    );
  });
}
