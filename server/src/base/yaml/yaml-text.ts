import { Refusal } from "../errors.ts";
import { readYaml } from "./read-yaml.ts";

/** A body in YAML that nobody has read yet: that takes a thread, and is done for nobody who may not send it. */
export class YamlText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What a body stands for. One that cannot be read is a refusal, which `parse` gives when its turn comes. */
export async function settleBody(body: unknown): Promise<unknown> {
  if (!(body instanceof YamlText)) return body;
  try {
    const read = await readYaml(body.text);
    return read.mistake === undefined
      ? read.value
      : new Refusal("bad_request", `The body ${read.mistake}. Send one YAML document of plain values.`);
  } catch (thrown) {
    if (thrown instanceof Refusal) return thrown;
    throw thrown;
  }
}
