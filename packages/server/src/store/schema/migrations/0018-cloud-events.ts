// Whether the requests of a webhook have the headers of CloudEvents.
import type { SchemaModule } from "kysely";

export const cloudEvents = async (schema: SchemaModule): Promise<void> => {
  await schema.alterTable("webhooks").addColumn("cloud_events", "integer").execute();
};
