import { useSearch } from "@tanstack/react-router";
import { type SearchTexts, useChangeSearch } from "../../ui/index.ts";
import { type PayloadType, payloadTypeOf } from "./payload.ts";

/**
 * Returns the type of the payload in the editor, which is stored in the URL, and a function that
 * changes it.
 */
export function usePayloadType(): [PayloadType, (type: PayloadType) => void] {
  const changeSearch = useChangeSearch();
  const search: SearchTexts = useSearch({ strict: false });
  const change = (type: PayloadType) =>
    changeSearch({ payload: type === "json" ? undefined : type }, { keepsScroll: true });
  return [payloadTypeOf(search.payload), change];
}
