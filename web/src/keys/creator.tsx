import { useNameOf } from "./use-name-of.ts";

/** Who created a key. */
export function Creator({ principal }: { readonly principal: string }) {
  const name = useNameOf().principal(principal);
  return <bdi title={name}>{name}</bdi>;
}
