import { useNavigate, useSearch } from "@tanstack/react-router";
import { type PayloadType, payloadTypeOf } from "./payload.ts";

/**
 * Returns the type of the payload in the editor, which is stored in the URL, and a function that
 * changes it.
 */
export function usePayloadType(): [PayloadType, (type: PayloadType) => void] {
  const navigate = useNavigate();
  const search: Readonly<Record<string, string | undefined>> = useSearch({ strict: false });
  const change = (type: PayloadType) =>
    void navigate({
      to: ".",
      search: { ...search, payload: type === "json" ? undefined : type },
      replace: true,
      resetScroll: false,
    });
  return [payloadTypeOf(search.payload), change];
}
