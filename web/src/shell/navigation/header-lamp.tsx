import { LampShape } from "./lamp-shape.tsx";
import { useLiveText } from "./live-text.ts";

/** The status of live updates in the header of each page on phones, which have no side bar. */
export function HeaderLamp() {
  const { state, text } = useLiveText();
  return (
    <span role="img" aria-label={text} className="md:hidden">
      <LampShape state={state} />
    </span>
  );
}
