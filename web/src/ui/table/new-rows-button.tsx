import { ArrowUp } from "lucide-react";
import { Button } from "../action/button.tsx";

interface NewRowsButtonProps {
  /** "3 new runs"; undefined while there are none. */
  readonly label: string | undefined;
  /** Announced when the label appears. Later changes of the label are not announced. */
  readonly announcement: string;
  readonly onShow: () => void;
}

/** A button for rows that have arrived since the list was read. It floats above the rows. */
export function NewRowsButton({ label, announcement, onShow }: NewRowsButtonProps) {
  return (
    <div className="pointer-events-none sticky top-10 z-3 flex h-0 justify-center">
      <span role="status" className="sr-only">
        {label === undefined ? "" : announcement}
      </span>
      {label === undefined ? null : (
        <span className="pointer-events-auto h-fit rounded-control bg-sheet shadow-popup">
          <Button size="small" variant="primary" icon={ArrowUp} onClick={onShow}>
            {label}
          </Button>
        </span>
      )}
    </div>
  );
}
