// What a browser does between two sites, without a browser: follows redirects, keeps cookies, and does not send Strict ones across sites.
import assert from "node:assert/strict";

interface Cookie {
  readonly host: string;
  readonly name: string;
  readonly value: string;
  readonly isStrict: boolean;
}

export interface Landing {
  readonly url: URL;
  readonly status: number;
  readonly text: string;
}

export interface Journey {
  readonly cookies: readonly Cookie[];
  /** What it sends to this address; as another site's page would when it says so. */
  cookieFor(url: string, options?: { readonly fromElsewhere?: boolean }): string;
  /** Without the cookies of this host. */
  forget(host: string): void;
  /** One request, whose redirect is not followed. */
  step(
    url: string,
    options?: { readonly fromElsewhere?: boolean; readonly method?: string },
  ): Promise<{ readonly status: number; readonly location: string | null; readonly text: string }>;
  /** To where the redirects end; forms of the provider are sent on the way. Stops before an address that `until` names. */
  go(url: string, until?: (url: URL) => boolean): Promise<Landing>;
}

const maxSteps = 20;

export const createJourney = (): Journey => {
  let cookies: Cookie[] = [];

  const keep = (url: URL, headers: Headers): void => {
    for (const text of headers.getSetCookie()) {
      const [pair = "", ...attributes] = text.split(/;\s*/);
      const name = pair.slice(0, pair.indexOf("="));
      const value = pair.slice(pair.indexOf("=") + 1);
      const isGone = attributes.some((each) => /^max-age=0$|^expires=.*1970/i.test(each));
      const isStrict = attributes.some((each) => /^samesite=strict$/i.test(each));
      cookies = cookies.filter((each) => each.host !== url.hostname || each.name !== name);
      if (!isGone) cookies.push({ host: url.hostname, name, value, isStrict });
    }
  };

  const journey: Journey = {
    get cookies() {
      return cookies;
    },
    cookieFor(text, { fromElsewhere = false } = {}) {
      const { hostname } = new URL(text);
      return cookies
        .filter(({ host, isStrict }) => host === hostname && !(fromElsewhere && isStrict))
        .map(({ name, value }) => `${name}=${value}`)
        .join("; ");
    },
    forget(host) {
      cookies = cookies.filter((each) => each.host !== host);
    },
    async step(text, { fromElsewhere = false, method = "GET" } = {}) {
      const url = new URL(text);
      const answer = await fetch(url, {
        method,
        redirect: "manual",
        headers: {
          accept: "text/html",
          cookie: journey.cookieFor(text, { fromElsewhere }),
          "sec-fetch-site": fromElsewhere ? "cross-site" : "same-origin",
        },
      });
      keep(url, answer.headers);
      const location = answer.headers.get("location");
      return {
        status: answer.status,
        location: location === null ? null : new URL(location, url).href,
        text: await answer.text(),
      };
    },
    async go(text, until = () => false) {
      let url = new URL(text);
      let fromElsewhere = false;
      let method = "GET";
      for (let steps = 0; steps < maxSteps; steps += 1) {
        if (until(url)) return { url, status: 0, text: "" };
        const {
          status,
          location,
          text: body,
        } = await journey.step(url.href, { fromElsewhere, method });
        method = "GET";
        if (location !== null) {
          const next = new URL(location);
          // From there on, the way was begun by another site.
          fromElsewhere ||= next.hostname !== url.hostname;
          url = next;
        } else if (body.includes('<form method="post">')) {
          method = "POST";
          fromElsewhere = false;
        } else return { url, status, text: body };
      }
      return assert.fail(`too many steps, the last to ${url.href}`);
    },
  };
  return journey;
};
