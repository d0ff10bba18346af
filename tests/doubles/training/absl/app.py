def run(main):
    main(["program"])
