import { useNames } from "./use-names.ts";

/** Who created a key. */
export function Creator({ principal }: { readonly principal: string }) {
  const name = useNames().principal(principal);
  return <bdi title={name}>{name}</bdi>;
}
