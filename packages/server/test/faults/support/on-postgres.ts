// Imported first by tests that are about PostgreSQL alone: all that open a store then open it there.
process.env.HALYARD_TEST_STORE = "postgres";
