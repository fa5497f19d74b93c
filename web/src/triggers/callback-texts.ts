/** Label and hint of the setting `allows_callback`. */
export const callbackTexts = {
  label: "Allow callbacks",
  hint: "A request can name, in the header beckon-callback, a URL that gets how its run ends. Only URLs of servers of enabled subscriptions are accepted.",
};
