/**
 * A script for a page. After `setHeld(true)`, it holds the messages by which React schedules what
 * need not be rendered at once, until `setHeld(false)`.
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
