import { ChevronDown, ChevronRight } from "lucide-react";
import { Button } from "../../ui/index.ts";
import type { ProviderState } from "../state/state.ts";

interface ModelsButtonProps {
  readonly provider: string;
  readonly state: ProviderState;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

/** A button that shows and hides the models of a provider. Renders nothing unless it works. */
export function ModelsButton({ provider, state, isOpen, onToggle }: ModelsButtonProps) {
  if (state.name !== "works") return null;
  return (
    <Button
      size="small"
      variant="quiet"
      icon={isOpen ? ChevronDown : ChevronRight}
      aria-expanded={isOpen}
      aria-label={`Models of ${provider}`}
      onClick={onToggle}
    >
      Models
    </Button>
  );
}
