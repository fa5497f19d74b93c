import { useQuery } from "@tanstack/react-query";
import { useWorkspace } from "../../data/index.ts";
import { memberNamesQuery } from "../../members/index.ts";
import { Id } from "../../ui/index.ts";

/**
 * Shows who did something. `value` is `user:`, `key:` or `token:` with an id, or `system`. A user
 * is shown by name if the name is known.
 */
export function Actor({ value }: { readonly value: string }) {
  const { data: names } = useQuery(memberNamesQuery(useWorkspace()));
  const [kind, id] = value.split(":");
  if (kind === "system") return "Beckon";
  if (id === undefined) return value;
  const name = kind === "user" ? names?.get(id) : undefined;
  if (name !== undefined) return <span dir="auto">{name}</span>;
  const noun = { user: "User", key: "Key", token: "Token of" }[kind ?? ""] ?? kind;
  return (
    <>
      {noun} <Id value={id} />
    </>
  );
}
