import type { Placed } from "./document.ts";

/**
 * What an operation is called in the client, by rule, so that nobody keeps a list:
 *
 *   The *group* is the last collection in the path: the path's first part, or a part that some path continues with a parameter.
 *   The *method* is the operationId without the words that name the group: `rotateAgentToken` is `agents.rotateToken`. Words that name an
 *   outer collection go too, or become `For…` where the group is also found outside of it: `listAgentRuns` is `runs.listForAgent`. What is
 *   done to several, where it can be done to one too, is `…Many`: `cancelRuns` is `runs.cancelMany`, beside `runs.cancel`.
 *
 * Where the path is no more than the operationId, the function is the client's own: `POST /sign-in` is `signIn`. Two that would be called the
 * same keep their operationId.
 */
export interface Name {
  /** Empty: the client's own. */
  readonly group: string;
  readonly method: string;
}

export function namesOf(operations: readonly Placed[]): Map<string, Name> {
  const collections = new Set(
    operations.flatMap(({ path }) =>
      [...path.matchAll(/\/([^/{}]+)\/\{/g)].map((match) => match[1] ?? ""),
    ),
  );
  const placed = operations.map(({ path, operation }) => {
    const parts = path.split("/").filter((part) => part !== "" && !part.startsWith("{"));
    const chain = parts.filter((part, index) => index === 0 || collections.has(part));
    return { id: operation.operationId, chain, collection: chain.at(-1) ?? "" };
  });
  const homes = Map.groupBy(placed, ({ collection }) => collection);
  const named = placed.map(({ id, chain, collection }) => {
    const outer = chain.slice(0, -1);
    let words = without(wordsOf(id), collection);
    for (const noun of outer) {
      const rest = without(words, noun);
      if (rest.length === words.length) continue;
      const onlyThere =
        homes.get(collection)?.every((other) => other.chain.slice(0, -1).includes(noun)) ?? false;
      words = onlyThere ? rest : [...rest, "for", ...wordsOf(singular(noun))];
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

/** `rotateAgentToken`, `rotate_agent_token` and `rotate-agent-token` have the same words. */
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

function singular(noun: string): string {
  return noun.endsWith("ies") ? `${noun.slice(0, -3)}y` : noun.replace(/s$/, "");
}

/** Whether the words name the noun as it is in the path, where it has a singular. */
function isPlural(words: readonly string[], noun: string): boolean {
  return singular(noun) !== noun && placeOf(words, wordsOf(noun)) > 0;
}

/** Where `wanted` stands among the words, behind the verb; 0: nowhere. */
function placeOf(words: readonly string[], wanted: readonly string[]): number {
  return Math.max(
    0,
    words.findIndex(
      (_, index) => index > 0 && wanted.every((word, offset) => words[index + offset] === word),
    ),
  );
}

/** The words without those that name the noun, one of it or all of it; the verb stays. */
function without(words: readonly string[], noun: string): string[] {
  for (const wanted of [wordsOf(noun), wordsOf(singular(noun))]) {
    const at = placeOf(words, wanted);
    if (at > 0) return [...words.slice(0, at), ...words.slice(at + wanted.length)];
  }
  return [...words];
}
