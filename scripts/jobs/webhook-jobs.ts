// Jobs with webhooks and keys: find out why a delivery failed, replay, create a key for a browser.
import { eventsLost, named } from "./data.ts";
import type { Job } from "./job.ts";

const whyFailed: Job = {
  name: "why a delivery failed, of 5,000",
  environment: "production",
  async work(person, { down }) {
    const { page } = person;
    const url = page.getByRole("link", { name: down.url });
    await person.press("Alt+5", url);
    const filter = page.getByRole("combobox", { name: "Flag" });
    await person.click(url, filter);
    await person.click(filter, filter.and(page.locator(":focus")));
    const rows = page.getByRole("list", { name: "Deliveries" }).getByRole("listitem");
    const attempted = rows.filter({ hasText: named.lost }).filter({ hasText: "answered 503" });
    await person.type(named.lost, attempted.first());
    const opened = page.getByRole("region", { name: "Delivery", exact: true });
    await person.click(
      attempted.first().getByRole("link"),
      opened.getByText("connection pool exhausted").first(),
    );
  },
};

const replay: Job = {
  // And those that jobs before this one have caused.
  name: `replay ${eventsLost} lost events`,
  environment: "development",
  async work(person, { healthy, lastKept }) {
    const { page } = person;
    const url = page.getByRole("link", { name: healthy.url });
    await person.press("Alt+5", url);
    await person.click(url, page.getByRole("button", { name: "More" }));
    const item = page.getByRole("menuitem", { name: "Replay events" });
    await person.click(page.getByRole("button", { name: "More" }), item);
    const dialog = page.getByRole("dialog");
    await person.click(item, dialog.getByLabel("After sequence").and(page.locator(":focus")));
    await person.type(String(lastKept));
    await person.press("Enter", dialog.getByText(/^(\d+) of \1 completed\.$/));
  },
};

const browserKey: Job = {
  name: "a key for a browser",
  environment: "production",
  async work(person) {
    const { page } = person;
    const create = page.getByRole("button", { name: "Create key" });
    await person.press("Alt+6", create);
    const dialog = page.getByRole("dialog");
    await person.click(create, dialog.getByLabel("Name").and(page.locator(":focus")));
    await person.type("web shop");
    const origins = dialog.getByLabel("Allowed origins");
    await person.click(dialog.getByRole("radio", { name: /^client/ }), origins);
    await person.click(origins, origins.and(page.locator(":focus")));
    await person.type("https://shop.example.com");
    await person.press("Enter", dialog.getByRole("button", { name: "Copy key" }));
    await person.click(
      dialog.getByRole("button", { name: "Copy key" }),
      dialog.getByRole("button", { name: "Copied" }),
    );
  },
};

export const webhookJobs: readonly Job[] = [whyFailed, replay, browserKey];
