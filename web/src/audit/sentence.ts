import type { AuditEntry } from "@beckon/client";
import { formatCounted, shortenId } from "../format/index.ts";
import { wordings } from "./actions.ts";

/** A part of a sentence: words, or the id of a resource, which is shown as a name with a link. */
export type Part = string | { readonly id: string };

/** Names by id. */
export type Names = ReadonlyMap<string, string>;

const idPattern = /^[a-z]{3}_[0-9a-z]{26}$/;

/** Returns the part of the sentence after the actor's name: "rotated the token of the agent …". */
export function sentenceParts(entry: AuditEntry): readonly Part[] {
  // A later version of Beckon can have actions that this page does not know. They are shown with
  // their name in the API, for example `agent.archive`.
  const known = Object.hasOwn(wordings, entry.action) ? wordings[entry.action] : undefined;
  const text = known?.text ?? `did ${entry.action} on {target}`;
  return (typeof text === "string" ? text : text(entry))
    .split(/(\{[a-z_: ]+\})/)
    .filter((piece) => piece !== "")
    .map((piece) => (piece.startsWith("{") ? partOf(entry, piece.slice(1, -1)) : piece));
}

function partOf(entry: AuditEntry, placeholder: string): Part {
  const [name = "", noun] = placeholder.split(":");
  if (name === "target") return idPattern.test(entry.target) ? { id: entry.target } : entry.target;
  if (name === "fields") return fieldsOf(entry);
  const { after } = entry.data;
  const value = entry.data[name] ?? (isObject(after) ? after[name] : undefined);
  if (noun !== undefined) return typeof value === "number" ? formatCounted(value, noun) : noun;
  if (typeof value === "number") return String(value);
  if (typeof value !== "string") return "(unknown)";
  return idPattern.test(value) ? { id: value } : value;
}

/** Maximum number of fields that are named. Further ones are only counted. */
const maxFields = 3;

function fieldsOf({ data }: AuditEntry): string {
  const fields = changesOf(data).map(({ field }) => field);
  if (typeof data.api_key === "string") fields.push("api_key");
  if (fields.length === 0) return "settings";
  const words = fields.slice(0, maxFields).map(fieldWords);
  const rest = fields.length - words.length;
  if (rest > 0) return `${words.join(", ")} and ${formatCounted(rest, "more field")}`;
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

/** Returns the name of a field in words: `limits.max_steps` is "limits: max steps". */
export function fieldWords(field: string): string {
  return field
    .replaceAll("_", " ")
    .replaceAll(".", ": ")
    .replace(/\b(api|url)\b/g, (word) => word.toUpperCase());
}

/**
 * A field that an action has changed. `before` or `after` is undefined if the field did not exist
 * then.
 */
export interface FieldChange {
  readonly field: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** Returns the fields that an entry's action has changed. */
export function changesOf({ before, after }: AuditEntry["data"]): FieldChange[] {
  const was = isObject(before) ? before : {};
  const is = isObject(after) ? after : {};
  return Object.keys({ ...was, ...is }).map((field) => ({
    field,
    before: was[field],
    after: is[field],
  }));
}

/**
 * Splits the change of a field that contains an object, such as `limits`, into the changes of the
 * object's fields, such as `limits.max_steps`. Returns a change of any other field as it is.
 */
export function innerChanges({ field, before, after }: FieldChange): FieldChange[] {
  if (!isObject(before) || !isObject(after)) return [{ field, before, after }];
  return changesOf({ before, after })
    .filter((inner) => JSON.stringify(inner.before) !== JSON.stringify(inner.after))
    .flatMap((inner) => innerChanges({ ...inner, field: `${field}.${inner.field}` }));
}

/**
 * Returns the fields of an entry's data, without the objects `before` and `after`, which contain
 * the changed fields.
 */
export function factsOf({
  data,
}: AuditEntry): readonly (readonly [field: string, value: unknown])[] {
  return Object.entries(data).filter(
    ([field, value]) => (field !== "before" && field !== "after") || !isObject(value),
  );
}

/** Returns the name of an actor: "Ada", "Key CI", "Beckon". */
export function actorText(actor: string, names: Names): string {
  const [kind = "", id] = actor.split(":");
  if (id === undefined) return actor === "system" ? "Beckon" : actor;
  const name = names.get(id) ?? shortenId(id);
  if (kind === "user") return name;
  if (kind === "key") return `Key ${name}`;
  return kind === "token" ? `Token of ${name}` : `${kind} ${name}`;
}

/** Returns the whole sentence as text. */
export function sentenceText(entry: AuditEntry, names: Names): string {
  const words = sentenceParts(entry).map((part) =>
    typeof part === "string" ? part : (names.get(part.id) ?? shortenId(part.id)),
  );
  return `${actorText(entry.actor, names)} ${words.join("")}`;
}

/** Returns the names that entries contain. They are needed for resources that no longer exist. */
export function namesIn(entries: readonly AuditEntry[]): Map<string, string> {
  const names = new Map<string, string>();
  const add = (id: unknown, name: unknown) => {
    if (typeof id !== "string" || typeof name !== "string" || name === "") return;
    // Entries are sorted newest first, so the first name found is the newest.
    if (!names.has(id)) names.set(id, name);
  };
  for (const { target, data } of entries) {
    const { name, email, user_id: userId, before, after } = data;
    if (isObject(after)) add(target, after.name);
    if (isObject(before)) add(target, before.name);
    add(target, name);
    if (target.startsWith("usr_")) add(target, email);
    add(userId, email);
  }
  return names;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
