import type { Key } from "@beckon/client";
import { useWorkspace } from "../data/index.ts";
import { Banner, Button, Dialog, Problem, useNow } from "../ui/index.ts";
import { KeyFacts } from "./key-facts.tsx";
import type { KeyAct } from "./key-menu.tsx";
import { whyFixed, whyNotRotated } from "./permission.ts";

interface KeyDialogProps {
  readonly apiKey?: Key;
  /** Why the key could not be loaded; undefined if there is no error. */
  readonly error?: Error;
  readonly close: () => void;
  readonly show: (search: Readonly<Record<string, string>>) => void;
}

/** Shows the details of a key and its actions. */
export function KeyDialog({ apiKey, error, close, show }: KeyDialogProps) {
  if (apiKey === undefined)
    return (
      <Dialog open onOpenChange={close} size="small" title="Key">
        <Problem error={error} title="The key could not be loaded." />
      </Dialog>
    );
  return <ReadKey apiKey={apiKey} close={close} show={show} />;
}

function ReadKey({ apiKey, close, show }: KeyDialogProps & { readonly apiKey: Key }) {
  const workspace = useWorkspace();
  const now = useNow();
  const fixed = whyFixed(apiKey, workspace);
  const act = (name: KeyAct) => () => show({ key: apiKey.id, act: name });
  return (
    <Dialog
      open
      onOpenChange={close}
      title={apiKey.name}
      footer={
        apiKey.bootstrap ? undefined : (
          <>
            <Button variant="danger" onClick={act("delete")} disabledReason={fixed}>
              Delete
            </Button>
            <Button onClick={act("rotate")} disabledReason={whyNotRotated(apiKey, workspace, now)}>
              Rotate
            </Button>
            <Button variant="primary" onClick={act("edit")} disabledReason={fixed}>
              Edit
            </Button>
          </>
        )
      }
    >
      <div className="flex min-w-0 flex-col gap-4">
        {apiKey.bootstrap ? (
          <Banner>
            The bootstrap key comes from the setting BECKON_BOOTSTRAP_KEY or from the data folder.
            To replace it, change it there and restart Beckon.
          </Banner>
        ) : null}
        <KeyFacts apiKey={apiKey} />
      </div>
    </Dialog>
  );
}
