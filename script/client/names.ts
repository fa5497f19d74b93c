import type { Endpoint } from "./document.ts";

/**
 * The name of an operation in the client: a group and a method, for example `agents.rotateToken`.
 * It is derived from the operation's path and operationId by these rules:
 *
 * - The group is the last collection in the path. A segment is a collection if it is the first of
 *   its path, or if a parameter follows it in any path; `partsOfOuter` lists the exceptions.
 * - The method is the operationId without the words of the group: `rotateAgentToken` becomes
 *   `agents.rotateToken`.
 * - The words of an earlier collection of the path are removed too: with a path that begins with
 *   `/agents/{agent_id}/versions`, `getAgentVersion` becomes `versions.get`.
 * - If the group also occurs without the earlier collection, `For…` replaces these words: `/runs`
 *   exists beside `/agents/{agent_id}/runs`, so `listAgentRuns` becomes `runs.listForAgent`.
 * - If a method exists for one resource and for several, `Many` is added to the one for several:
 *   `cancelRuns` becomes `runs.cancelMany`, next to `runs.cancel`.
 * - If the operationId has the same words as the collection, there is no group: `POST /sign-in`
 *   becomes `signIn`.
 * - Operations that would get the same name keep their operationId as method.
 */
export interface Name {
  /** Empty if the function belongs to the client itself. */
  readonly group: string;
  readonly method: string;
}

/**
 * Segments that are collections only at the start of a path. The client has published
 * `runs.listEvents`, so the events of a run stay in the group `runs`. Likewise, the requests of a
 * trigger are in the group `triggers`.
 */
const partsOfOuter = ["events", "requests"];

export function namesOf(operations: readonly Endpoint[]): Map<string, Name> {
  const collections = new Set(
    operations.flatMap(({ path }) =>
      [...path.matchAll(/\/([^/{}]+)\/\{/g)].map((match) => match[1] ?? ""),
    ),
  );
  const located = operations.map(({ path, operation }) => {
    const parts = path.split("/").filter((part) => part !== "" && !part.startsWith("{"));
    const chain = parts.filter(
      (part, index) => index === 0 || (collections.has(part) && !partsOfOuter.includes(part)),
    );
    return { id: operation.operationId, chain, collection: chain.at(-1) ?? "" };
  });
  const byCollection = Map.groupBy(located, ({ collection }) => collection);
  const named = located.map(({ id, chain, collection }) => {
    const outer = chain.slice(0, -1);
    let words = without(wordsOf(id), collection);
    for (const collectionName of outer) {
      const rest = without(words, collectionName);
      if (rest.length === words.length) continue;
      const onlyThere =
        byCollection
          .get(collection)
          ?.every((other) => other.chain.slice(0, -1).includes(collectionName)) ?? false;
      words = onlyThere ? rest : [...rest, "for", ...wordsOf(singular(collectionName))];
    }
    const own = wordsOf(id).join("") === wordsOf(collection).join("");
    return {
      id,
      plural: isPlural(wordsOf(id), collection),
      name: { group: own ? "" : camel(wordsOf(collection)), method: camel(words) },
    };
  });
  const full = ({ name }: { readonly name: Name }) => `${name.group}.${name.method}`;
  const ofOne = new Set(named.filter(({ plural }) => !plural).map(full));
  const many = named.map((each) =>
    each.plural && ofOne.has(full(each))
      ? { ...each, name: { ...each.name, method: `${each.name.method}Many` } }
      : each,
  );
  const same = Map.groupBy(many, full);
  return new Map(
    many.map((each) => [
      each.id,
      same.get(full(each))?.length === 1
        ? each.name
        : { ...each.name, method: camel(wordsOf(each.id)) },
    ]),
  );
}

/** Returns the lower-case words of a name in camelCase, snake_case or kebab-case. */
export function wordsOf(name: string): string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .split(/[^A-Za-z0-9]+/)
    .filter(Boolean)
    .map((word) => word.toLowerCase());
}

export function camel(words: readonly string[]): string {
  return words.map((word, index) => (index === 0 ? word : capital(word))).join("");
}

export function pascal(name: string): string {
  return wordsOf(name).map(capital).join("");
}

const capital = (word: string) => word.slice(0, 1).toUpperCase() + word.slice(1);

function singular(collectionName: string): string {
  return collectionName.endsWith("ies")
    ? `${collectionName.slice(0, -3)}y`
    : collectionName.replace(/s$/, "");
}

/**
 * Returns whether the words contain the name of the collection in its plural, for example `runs` in
 * `cancelRuns`. Returns false for a collection whose name is not a plural.
 */
function isPlural(words: readonly string[], collectionName: string): boolean {
  return (
    singular(collectionName) !== collectionName && indexOfWords(words, wordsOf(collectionName)) > 0
  );
}

/**
 * Returns the index at which `wanted` begins in the words, or 0 if the words do not contain it. The
 * first word, which is the verb, is not searched.
 */
function indexOfWords(words: readonly string[], wanted: readonly string[]): number {
  return Math.max(
    0,
    words.findIndex(
      (_, index) => index > 0 && wanted.every((word, offset) => words[index + offset] === word),
    ),
  );
}

/**
 * Returns the words of an operation's name without those of its collection, in plural or singular.
 * The first word, which is the verb, is never removed.
 */
function without(words: readonly string[], collectionName: string): string[] {
  for (const wanted of [wordsOf(collectionName), wordsOf(singular(collectionName))]) {
    const at = indexOfWords(words, wanted);
    if (at > 0) return [...words.slice(0, at), ...words.slice(at + wanted.length)];
  }
  return [...words];
}
