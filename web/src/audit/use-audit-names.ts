import type { AuditEntry } from "@beckon/client";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useWorkspace } from "../data/index.ts";
import { namesQuery } from "./queries.ts";
import { type Names, namesIn } from "./sentence.ts";

/**
 * Returns names by id: the current names, and those of deleted resources that the entries contain.
 * `note` says which current names were not read; empty if none.
 */
export function useAuditNames(entries: readonly AuditEntry[]): {
  readonly names: Names;
  readonly note: string;
} {
  const { data } = useQuery(namesQuery(useWorkspace()));
  const names = useMemo(
    () => new Map([...namesIn(entries), ...(data?.names ?? [])]),
    [entries, data],
  );
  return { names, note: data?.note ?? "" };
}
