import { isJsonObject } from "../../base/json-object.ts";
import type { OpenapiNode } from "./read-document.ts";

/** Something of a document that cannot be taken over. The message says what. */
export class Unusable extends Error {
  override readonly name = "Unusable";
}

/** Objects and choices that are looked at in one import: a document may refer to the same ones again and again. */
const most = 20_000;

/** A document whose references are followed inside it and nowhere else: nothing is fetched. */
export interface ImportedDocument {
  readonly root: OpenapiNode;
  /** The object itself, or the one it refers to, and the reference it was found by. @throws Unusable */
  follow(value: unknown): { readonly node: OpenapiNode; readonly reference: string | undefined };
}

export function openDocument(root: OpenapiNode): ImportedDocument {
  let looked = 0;
  return {
    root,
    follow(value) {
      let node = value;
      let reference: string | undefined;
      for (let hops = 0; hops < 20; hops += 1) {
        looked += 1 + (isJsonObject(node) && Array.isArray(node.enum) ? node.enum.length : 0);
        if (looked > most)
          throw new Unusable("the document is too large when its references are followed");
        if (!isJsonObject(node))
          throw new Unusable(
            reference === undefined ? "something is no object" : `${reference} leads to no object`,
          );
        if (typeof node.$ref !== "string") return { node, reference };
        reference = node.$ref;
        node = target(root, reference);
      }
      throw new Unusable(`${reference} leads in a circle`);
    },
  };
}

/** By JSON pointer (RFC 6901). */
function target(root: OpenapiNode, reference: string): unknown {
  if (!reference.startsWith("#/"))
    throw new Unusable(
      `it refers to another document (${reference.slice(0, 200)}), which is not fetched`,
    );
  return reference
    .slice(2)
    .split("/")
    .map((step) => decoded(step).replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<unknown>(
      (node, step) =>
        typeof node === "object" && node !== null && Object.hasOwn(node, step)
          ? (node as OpenapiNode)[step]
          : undefined,
      root,
    );
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
