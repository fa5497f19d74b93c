/**
 * A script that can delay rendering in a page. React schedules rendering that is not urgent by
 * messages to a MessagePort. After `setHeld(true)`, the script holds these messages until
 * `setHeld(false)`.
 */
export const holdRendering = `
  const held = [];
  const post = MessagePort.prototype.postMessage;
  let isHeld = false;
  MessagePort.prototype.postMessage = function (...args) {
    if (isHeld) held.push(() => post.apply(this, args));
    else post.apply(this, args);
  };
  globalThis.setHeld = (next) => {
    isHeld = next;
    for (const send of held.splice(0)) send();
  };
`;
