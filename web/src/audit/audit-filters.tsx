import { toZoned } from "../format/index.ts";
import type { FilterDefinition } from "../ui/index.ts";
import { wordings } from "./actions.ts";
import type { Names } from "./sentence.ts";
import { TimeEditor } from "./time-editor.tsx";

const actions = Object.entries(wordings).map(([value, { label }]) => ({ value, label }));

/**
 * Returns the definitions of the audit log's filters. Their ids are the names of the API's
 * parameters. People and keys can be chosen from a list, and others by their ids.
 * @param zone time zone in which times are shown
 */
export function auditFilters(names: Names, zone: string): readonly FilterDefinition[] {
  const named = [...names].flatMap(([id, name]) => {
    const value = actorOf(id);
    if (value === undefined) return [];
    return [{ value, label: value.startsWith("key:") ? `Key ${name}` : name }];
  });
  return [
    {
      id: "actor",
      label: "Actor",
      options: [...named, { value: "system", label: "Beckon" }],
      valueOfId: actorOf,
    },
    { id: "action", label: "Action", options: actions },
    { id: "target", label: "Resource", placeholder: "Its id, e.g. agt_…" },
    timeFilter("since", "From", zone),
    timeFilter("until", "Until", zone),
  ];
}

/** Returns the actor with this id, as the API names it; undefined if it is no person and no key. */
function actorOf(id: string): string | undefined {
  if (id.startsWith("usr_")) return `user:${id}`;
  return id.startsWith("key_") ? `key:${id}` : undefined;
}

function timeFilter(id: string, label: string, zone: string): FilterDefinition {
  return {
    id,
    label,
    display: (value) => {
      const ms = Date.parse(value);
      return Number.isNaN(ms) ? value : toZoned(ms, zone).replace("T", " ");
    },
    editor: (value, choose) => <TimeEditor label={label} value={value} onChoose={choose} />,
  };
}
