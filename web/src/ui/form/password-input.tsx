import { Eye, EyeOff } from "lucide-react";
import { useState } from "react";
import { IconButton } from "../action/icon-button.tsx";
import { TextInput, type TextInputProps } from "./text-input.tsx";

/** A field for a secret, with a button that shows it. Set `autoComplete` for password managers. */
export function PasswordInput(props: Omit<TextInputProps, "type" | "suffix">) {
  const [shown, setShown] = useState(false);
  return (
    <TextInput
      spellCheck={false}
      autoCapitalize="none"
      {...props}
      type={shown ? "text" : "password"}
      suffix={
        <IconButton
          icon={shown ? EyeOff : Eye}
          label={shown ? "Hide what I type" : "Show what I type"}
          size="small"
          onClick={() => setShown(!shown)}
        />
      }
    />
  );
}
