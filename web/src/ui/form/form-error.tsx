import { useEffect, useRef } from "react";
import { ProblemBox } from "../feedback/problem.tsx";

interface FormErrorProps {
  /** What was thrown, or a sentence: why the form was not saved. Nothing is shown without it. */
  readonly error: unknown;
}

/** Why a form as a whole was not saved. Comes into sight when it appears. */
export function FormError({ error }: FormErrorProps) {
  const box = useRef<HTMLDivElement>(null);
  const isShown = error !== undefined && error !== null;
  useEffect(() => {
    if (isShown) box.current?.scrollIntoView({ block: "nearest" });
  }, [isShown]);
  return (
    // Always there, so that screen readers announce what appears in it; without a gap around it.
    <div role="alert" ref={box} className="empty:absolute">
      {isShown ? <ProblemBox error={error} /> : null}
    </div>
  );
}
