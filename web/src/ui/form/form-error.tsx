import { useEffect, useRef } from "react";
import { ProblemBox } from "../feedback/problem.tsx";

interface FormErrorProps {
  /**
   * The thrown error, or a sentence that says why the form was not saved; undefined or null if
   * there is no error, in which case nothing is shown.
   */
  readonly error: unknown;
}

/** Shows why a form as a whole was not saved. It scrolls into view when it appears. */
export function FormError({ error }: FormErrorProps) {
  const box = useRef<HTMLDivElement>(null);
  const isShown = error !== undefined && error !== null;
  useEffect(() => {
    if (isShown) box.current?.scrollIntoView({ block: "nearest" });
  }, [isShown]);
  return (
    // The element always exists, because screen readers announce only changes in existing elements.
    // While it is empty, its absolute position keeps it from adding a gap.
    <div role="alert" ref={box} className="empty:absolute">
      {isShown ? <ProblemBox error={error} /> : null}
    </div>
  );
}
