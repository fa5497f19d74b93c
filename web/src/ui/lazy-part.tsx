import { type ComponentType, Suspense } from "react";
import { createDeferred, useDeferred } from "./deferred.ts";

interface Closable {
  readonly close?: () => void;
  readonly onClose?: () => void;
}

/**
 * Returns a component whose code is loaded when it is first rendered, for example a dialog. If the
 * code cannot be loaded, `MissingNotice` says so, and the page around the component stays.
 * @param load imports the component
 * @param Pending shown until the component is loaded. Default: nothing.
 */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Pending: ComponentType<Props> = () => null,
): ComponentType<Props> {
  const deferred = createDeferred(load);
  return function Part(props: Props) {
    const { close, onClose }: Closable = props;
    const Loaded = useDeferred(deferred, true, close ?? onClose);
    if (Loaded === undefined) return <Pending {...props} />;
    return (
      <Suspense fallback={<Pending {...props} />}>
        <Loaded {...props} />
      </Suspense>
    );
  };
}
