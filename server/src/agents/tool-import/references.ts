import { isJsonObject } from "../../base/json/index.ts";
import type { OpenapiNode } from "./read-document.ts";

/**
 * Thrown for a part of an OpenAPI document that tools do not support. The message names the part.
 */
export class UnsupportedError extends Error {
  override readonly name = "UnsupportedError";
}

/**
 * Maximum number of objects that an import visits, plus the elements of their lists `enum`,
 * `required` and `type`, which are copied at every visit. Without this limit, references could make
 * a small document expand to a very large tool.
 */
const maxVisited = 20_000;

/**
 * Maximum characters of a reference. A reference is decoded each time that it is followed, so many
 * uses of a long one could block the process.
 */
const maxReferenceCharacters = 2_000;

/** An OpenAPI document. References to other documents are not followed. */
export interface ImportedDocument {
  readonly root: OpenapiNode;
  /**
   * Returns `value` itself or, if it has a `$ref`, the object to which it refers. `reference` is
   * the last reference that was followed; undefined if there was none.
   * @throws UnsupportedError if a reference is too long, or leads to another document, to itself or
   *   to no object; or if the import has visited more than `maxVisited` objects and elements of
   *   their lists.
   */
  follow(value: unknown): { readonly node: OpenapiNode; readonly reference: string | undefined };
}

export function createReferenceResolver(root: OpenapiNode): ImportedDocument {
  let visited = 0;
  return {
    root,
    follow(value) {
      let node = value;
      let reference: string | undefined;
      for (let hops = 0; hops < 20; hops += 1) {
        visited += 1 + copiedElements(node);
        if (visited > maxVisited)
          throw new UnsupportedError("the document is too large when its references are followed");
        if (!isJsonObject(node))
          throw new UnsupportedError(
            reference === undefined
              ? "the document has another value where an object is required"
              : `${reference} does not refer to an object`,
          );
        if (typeof node.$ref !== "string") return { node, reference };
        if (node.$ref.length > maxReferenceCharacters)
          throw new UnsupportedError("it has a reference that is too long");
        reference = node.$ref;
        node = target(root, reference);
      }
      throw new UnsupportedError(`${reference} refers to itself`);
    },
  };
}

function copiedElements(node: unknown): number {
  return isJsonObject(node)
    ? [node.enum, node.required, node.type].reduce<number>(
        (sum, list) => sum + (Array.isArray(list) ? list.length : 0),
        0,
      )
    : 0;
}

/**
 * Returns the value to which `reference` (`#` and a JSON Pointer, RFC 6901) points; undefined if
 * the document has no such value.
 * @throws UnsupportedError if it points to another document.
 */
function target(root: OpenapiNode, reference: string): unknown {
  if (!reference.startsWith("#/"))
    throw new UnsupportedError(
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
