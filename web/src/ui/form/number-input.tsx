import type { ComponentProps } from "react";
import { TextInput } from "./text-input.tsx";

interface NumberInputProps
  extends Omit<ComponentProps<"input">, "className" | "style" | "size" | "prefix" | "type"> {
  /** Unit inside the end of the field: "seconds". */
  readonly unit?: string | undefined;
}

/** A field for a number. In React Hook Form, `valueAsNumber: true` gives numbers, not texts. */
export function NumberInput({ unit, inputMode = "decimal", ...rest }: NumberInputProps) {
  return (
    <TextInput
      {...rest}
      type="number"
      inputMode={inputMode}
      suffix={unit === undefined ? undefined : <span className="pr-1">{unit}</span>}
      // Removes the focus, because scrolling over a focused number field would change the number.
      onWheel={(event) => event.currentTarget.blur()}
    />
  );
}
