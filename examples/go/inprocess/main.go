// Flags are evaluated in the program's memory, and a change arrives at once. Needs a key of the role server.
package main

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"os"
	"strconv"
	"time"

	flagd "github.com/open-feature/go-sdk-contrib/providers/flagd/pkg"
	"github.com/open-feature/go-sdk/openfeature"
)

func main() {
	port, err := strconv.ParseUint(cmp.Or(os.Getenv("HALYARD_FLAGD_PORT"), "8015"), 10, 16)
	if err != nil {
		log.Fatal(err)
	}
	provider, err := flagd.NewProvider(
		flagd.WithInProcessResolver(),
		flagd.WithHost(cmp.Or(os.Getenv("HALYARD_FLAGD_HOST"), "127.0.0.1")),
		flagd.WithPort(uint16(port)),
		// The provider sends no credentials of its own, so the key travels as the provider's id.
		flagd.WithProviderID(os.Getenv("HALYARD_API_KEY")),
	)
	if err != nil {
		log.Fatal(err)
	}
	if err := openfeature.SetProviderAndWait(provider); err != nil {
		log.Fatal(err)
	}
	client := openfeature.NewClient("checkout")
	user := openfeature.NewEvaluationContext("user-42", map[string]any{"plan": "pro"})

	shown := ""
	for range time.Tick(100 * time.Millisecond) {
		text := "the old checkout"
		if isNew, _ := client.BooleanValue(context.Background(), "new-checkout", false, user); isNew {
			text = "the new checkout"
		}
		if text != shown {
			fmt.Println(text)
			shown = text
		}
	}
}
