// Browsers refuse workers to pages that were opened from a folder. The search runs in one: a hidden frame takes its part.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = frame.contentWindow;
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = (...addresses) =>
        addresses.reduce((before, each) => before.then(() => loaded(inside, each)), Promise.resolve());
      this.inside = loaded(inside, new URL(address, location.href)).then(() => inside);
    }

    postMessage(data) {
      this.inside.then((inside) => inside.dispatchEvent(new inside.MessageEvent("message", { data })));
    }
  };
  window.Worker = window.IFrameWorker;

  function loaded(inside, address) {
    return new Promise((resolve, reject) => {
      const script = inside.document.createElement("script");
      script.src = address;
      script.onload = resolve;
      script.onerror = reject;
      inside.document.head.append(script);
    });
  }
}
