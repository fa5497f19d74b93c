import type { ComponentProps } from "react";
import { TextInput } from "./text-input.tsx";

/** Properties that only `<input type="number">` supports. */
type NumberOnly = "min" | "max" | "step";

interface NumberInputProps
  extends Omit<
    ComponentProps<"input">,
    "className" | "style" | "size" | "prefix" | "type" | NumberOnly
  > {
  /** Unit inside the end of the field: "seconds". */
  readonly unit?: string | undefined;
}

/**
 * A field for a number, whose value is a text: read it with `numberIn` of data/. It is not an
 * `<input type="number">`, because browsers report a text that they cannot read, such as "1e", as
 * an empty field. In most forms, an empty field means that there is no limit, so a typing error
 * would remove the limit.
 */
export function NumberInput({ unit, inputMode = "decimal", ...rest }: NumberInputProps) {
  return (
    <TextInput
      {...rest}
      inputMode={inputMode}
      autoComplete="off"
      suffix={unit === undefined ? undefined : <span className="pr-1">{unit}</span>}
    />
  );
}
